# shellcheck shell=sh
# Sourced after server.sh by tests with many users: tokens and a client certificate.

# tokens: reads lines of a user and groups, and writes {"user":"token"}.
tokens() {
    separator='{'
    while read -r name groups; do
        set -- --user "$name"
        if [ -n "$groups" ]; then set -- "$@" --groups "$groups"; fi
        # shellcheck disable=SC2154 # of server.sh
        printf '%s"%s":"%s"' "$separator" "$name" "$("$vedette" token create --data data "$@")"
        separator=,
    done
    echo '}'
}

# crew: tokens.json with those of root, and of ann and bob, who are in the group crew; and ca.crt.
crew() {
    tokens >tokens.json <<END
root system:masters
ann crew
bob crew
END
    cp data/pki/ca.crt ca.crt
}

# certificate: cora.crt and cora.key, of cora in the group crew, by the server's own CA; and ca.crt.
certificate() {
    {
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout cora.key \
            -out cora.csr -subj /O=crew/CN=cora &&
            openssl x509 -req -in cora.csr -CA data/pki/ca.crt -CAkey data/pki/ca.key \
                -CAcreateserial -days 2 -out cora.crt
    } >openssl.out 2>&1 || { cat openssl.out; return 1; }
    cp data/pki/ca.crt ca.crt
}
