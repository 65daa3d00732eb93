#!/bin/sh
# Authorization: every verb x kind x identity, and what the reviews say of the same (matrix.mjs).
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
here=$top/tests/api
listen=127.0.0.1:0
start --access-log off || exit 1

# tokens: {"user":"token"} for those who have one.
tokens() {
    separator='{'
    while read -r name groups; do
        set -- --user "$name"
        if [ -n "$groups" ]; then set -- "$@" --groups "$groups"; fi
        printf '%s"%s":"%s"' "$separator" "$name" "$("$vedette" token create --data data "$@")"
        separator=,
    done
    echo '}'
}
node --input-type=module -e "
    import { identities } from 'file://$here/matrix_policy.mjs';
    for (const { name, groups, by } of identities)
        if (by === 'token') console.log(name, groups.slice(0, -1).join(','));" | tokens >tokens.json

# certificate: of cora, of the group crew, by the server's own CA.
certificate() {
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout cora.key -out cora.csr \
        -subj /O=crew/CN=cora &&
        openssl x509 -req -in cora.csr -CA data/pki/ca.crt -CAkey data/pki/ca.key -CAcreateserial \
            -days 2 -out cora.crt
}
certificate >openssl.out 2>&1 || { cat openssl.out; exit 1; }
cp data/pki/ca.crt ca.crt
timeout 300 node "$here/matrix.mjs" . "$http" "$https"
