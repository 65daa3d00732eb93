#!/bin/sh
# GET / names the paths that are served; and what others need to verify the tokens of
# ServiceAccounts by themselves.
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"

# code TOKEN PATH: the status that it gets.
code() { as "$1" "$2" -o code.out -w '%{http_code}'; }

tap "a server starts" start

# ---- the root ----

paths() { admin / | tr -d ' \n' | sed 's/^{"paths":\[//; s/\]}$//; s/"//g' | tr , '\n'; }
paths >paths.out
tap "it has paths" grep -qx /apis/rbac.authorization.k8s.io/v1 paths.out
tap "those of the core" grep -qx /api/v1 paths.out
tap "of checks" grep -qx /readyz/shutdown paths.out
tap "of issuing" grep -qx /.well-known/openid-configuration paths.out
tap "in order, each once" env LC_ALL=C sort -u -c paths.out

all_there() {
    while read -r path; do
        got=$(admin "$path" -o all.out -w '%{http_code}')
        [ "$got" = 200 ] || { echo "$path: $got"; return 1; }
    done <paths.out
    [ -s paths.out ]
}
tap "all of which are there" all_there

definition() {
    post /apis/apiextensions.k8s.io/v1/customresourcedefinitions CustomResourceDefinition \
        '"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Cluster",
        "names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v2","served":true,
        "storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}'
}
tap "a definition" definition
paths >paths.out
tap "adds its group" grep -qx /apis/example.com paths.out
tap "and its version" grep -qx /apis/example.com/v2 paths.out

plain=$("$vedette" token create --data data --user plain)
tap "who may not ask for it" [ "$(code "$plain" /)" = 403 ]
tap "is told so" grep -q 'cannot get path \\"/\\"' code.out
tap "nor may nobody" [ "$(ask / -o /dev/null -w '%{http_code}')" = 401 ]

# ---- the root, to those without a credential ----

# told TYPE TEXT ARGUMENT...: curl gets 401 and this type, and the body has the text.
told() {
    told_type=$1 told_text=$2
    shift 2
    ask / -D told.head -o told.body -w '%{http_code}' "$@" >told.code
    [ "$(cat told.code)" = 401 ] && grep -q -i "^content-type: $told_type" told.head &&
        grep -q -F -e "$told_text" told.body && return 0
    cat told.head told.body
    return 1
}
browser='text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
tap "curl is told in words how to get in" told text/plain \
    '  export KUBECONFIG=data/admin.kubeconfig'
tap "with a command for others" told text/plain \
    '  vedette kubeconfig --data data --user ann --output data/ann.kubeconfig'
tap "and one for other programs" told text/plain \
    "  curl --cacert data/pki/ca.crt -H \"Authorization: Bearer \$token\" $https/api"
tap "a wrong token is told the same" told text/plain 'without one that is good' \
    -H 'Authorization: Bearer vd_wrong'
tap "a browser gets a page" told text/html '<pre>export KUBECONFIG=data/admin.kubeconfig' \
    -H "Accept: $browser"
tap "that loads nothing" sh -c '! grep -E -i "<script|<link|<img|src=|url\(|@import" told.body'
# The policy allows the style that is there, and nothing else.
# shellcheck disable=SC2016 # the dollars are JavaScript's
policy() {
    node -e '
        const fs = require("fs"), { createHash } = require("crypto");
        const style = fs.readFileSync("told.body", "utf8").match(/<style>([^]*)<\/style>/)[1];
        const hash = createHash("sha256").update(style).digest("base64");
        const policy = fs.readFileSync("told.head", "utf8")
            .match(/^content-security-policy: (.*)\r$/im)[1];
        process.exit(policy.startsWith("default-src \u0027none\u0027; style-src " +
            `\u0027sha256-${hash}\u0027; `) && !policy.includes("unsafe") ? 0 : 1);'
}
tap "and may not" policy
tap "over HTTP/1.1 as well" told text/html '<h1>Vedette</h1>' -H "Accept: $browser" --http1.1
for accept in application/json 'application/json, */*' \
    'application/vnd.kubernetes.protobuf,application/json' application/yaml; do
    tap "a Status for $accept" told application/json '"reason":"Unauthorized"' -H "Accept: $accept"
done
tap "a host with odd letters is not said again" told text/html 'https://HOST/api' \
    -H "Accept: $browser" -H 'Host: a&b' --http1.1
odd() { ! grep -q 'a&' told.body; }
tap "in no way" odd
private() { ! grep -q -F -e "$(cat "$top/VERSION")" -e "$scratch" told.body; }
tap "no version, no absolute path" private
type_of() { ask "$@" -o other.body -w '%{content_type}'; }
tap "another path is no welcome" [ "$(type_of /index)" = application/json ]
tap "nor is another verb" [ "$(type_of / -X POST)" = application/json ]
head_of() { ask / -I | grep -i -q '^content-type: text/plain'; }
tap "HEAD has its head" head_of
tap "other paths are none" [ "$(admin /index.htm -o /dev/null -w '%{http_code}')" = 404 ]

# ---- issuing ----

configuration=/.well-known/openid-configuration
keys=/openid/v1/jwks
account=$(admin /api/v1/namespaces/default/serviceaccounts/default/token \
    -H 'Content-Type: application/json' -d '{"apiVersion":"authentication.k8s.io/v1",
    "kind":"TokenRequest","spec":{}}' | sed -n 's/.*"token": *"\([^"]*\)".*/\1/p')
for path in $configuration $keys; do
    tap "an account may read $path" [ "$(code "$account" "$path")" = 200 ]
    tap "also with a slash behind it" [ "$(code "$account" "$path/")" = 200 ]
    tap "others may not" [ "$(code "$plain" "$path")" = 403 ]
    tap "nobody may" [ "$(ask "$path" -o /dev/null -w '%{http_code}')" = 401 ]
done

# What a verifier does that knows the issuer and the server's CA.
cat >verify.mjs <<'EOF'
import { createPublicKey, verify } from 'node:crypto';
const [configuration, keys, token, at] = process.argv.slice(2);
const { issuer, jwks_uri, ...rest } = JSON.parse(configuration);
const [head, claims, signature] = token.split('.');
const decode = (part) => JSON.parse(Buffer.from(part, 'base64url'));
const good = (name, truth) => {
    if (!truth) throw new Error(name);
};
good('issuer', issuer === decode(claims).iss);
good('jwks_uri', jwks_uri === `${at}/openid/v1/jwks`);
good('types', rest.response_types_supported[0] === 'id_token');
good('subjects', rest.subject_types_supported[0] === 'public');
good('algorithms', rest.id_token_signing_alg_values_supported.includes(decode(head).alg));
const found = JSON.parse(keys).keys.filter(({ kid }) => kid === decode(head).kid);
good('one key', found.length === 1);
good('a public one', found[0].d === undefined && found[0].use === 'sig');
const key = createPublicKey({ key: found[0], format: 'jwk' });
const verifies = (text) =>
    verify('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' },
        Buffer.from(signature, 'base64url'));
good('signature', verifies(`${head}.${claims}`));
good('of this text alone', !verifies(`${head}.${claims}x`));
EOF
tap "a token can be verified with them" node verify.mjs "$(as "$account" $configuration)" \
    "$(as "$account" $keys)" "$account" "$https"
tap "keys have a type of their own" said 200 'application/jwk-set+json' $keys
tap "both may be kept for a while" said 200 'private, max-age=3600' $configuration

tap "the server stops" stop
mv data data.moved
https=
# shellcheck disable=SC2016 # the dollar is part of what is told
absolute() {
    rm -f out err # the shell empties them when it runs the server, which may be too late
    "$vedette" serve --data "$scratch/data" --listen 127.0.0.1:0 --tls-listen off >out 2>err &
    server=$!
    until_true is_up
    http=$(grep '^ready ' out | grep -o 'http://[^ ]*')
    curl -sS -m 60 "$http/" >told.body
    grep -q '  token=$(vedette token create --data DIR --user me' told.body &&
        ! grep -q "$scratch" told.body &&
        grep -q "DIR is the server's data folder" told.body && return 0
    cat told.body
    return 1
}
tap "a data folder elsewhere is not told" absolute
tap "the server stops again" stop
tap_end
