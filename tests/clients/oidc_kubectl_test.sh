#!/bin/sh
# kubectl with the token of another issuer, and what the audit log says of it.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/kubectls.sh
. "$here/kubectls.sh"

find_kubectls
node "$here/oidc_issuer_process.mjs" "$scratch" 2>issuer.err &
issuer=$!
trap 'kill -9 $pid $issuer 2>/dev/null; rm -rf "$scratch"' EXIT
tap "an issuer" until_true test -e issuer.ready
tap "a server that trusts it" start_server --authentication-config issuers.json \
    --audit-log audit.log

# with TOKEN ARGUMENT...: kubectl with nothing but the token.
with() {
    with_token=$1
    shift
    sed '/client-certificate-data/d; /client-key-data/d' data/admin.kubeconfig >token.kubeconfig
    KUBECONFIG=token.kubeconfig timeout 60 "$kubectl" --token="$(cat "$with_token.token")" "$@"
}
is_in() { with good get --raw /api >/dev/null 2>&1; }
mkdir -p cache
for kubectl in $kubectls; do
    v=$("$kubectl" version --client -o json 2>/dev/null |
        sed -n 's/.*"gitVersion": *"\(v[^"]*\)".*/\1/p' | head -n 1)
    tap "$v: is let in when the keys are there" until_true is_in
    tap "$v: without a role" refuses 'configmaps is forbidden: User "oidc:ann" cannot list' \
        with good get configmaps
    timeout 60 "$kubectl" create rolebinding dev --clusterrole=edit --group=oidc:dev >/dev/null
    may() { with good get configmaps >/dev/null 2>&1; }
    tap "$v: with one" until_true may
    tap "$v: create" gives "configmap/a created" with good create configmap a --from-literal=k=v
    tap "$v: can-i" gives yes with good auth can-i delete configmaps
    tap "$v: delete" gives 'configmap "a" deleted' with good delete configmap a
    tap "$v: an old token" refuses 'You must be logged in to the server' with old get configmaps
    audited() {
        grep '"verb":"create"' audit.log | grep '"username":"oidc:ann"' | grep '"name":"a"' |
            grep -q '"userAgent":"kubectl'
    }
    tap "$v: is in the audit log" until_true audited
    timeout 60 "$kubectl" delete rolebinding dev >/dev/null
    may_not() { ! may; }
    tap "$v: and out again" until_true may_not
    : >audit.log
done
tap_end
