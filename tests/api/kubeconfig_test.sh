#!/bin/sh
# vedette kubeconfig: a file with which a user gets in, and what it refuses.
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"

# says STATUS TEXT COMMAND...: this exit status, and one line on stderr with the text.
says() {
    says_status=$1 says_text=$2
    shift 2
    "$@" >says.out 2>says.err
    says_got=$?
    [ "$says_got" -eq "$says_status" ] && grep -q -F -e "$says_text" says.err &&
        [ "$(wc -l <says.err)" -eq 1 ] && [ ! -s says.out ] && return 0
    echo "status $says_got: $*"
    cat says.out says.err
    return 1
}
mkdir data
tap "before a server has run" says 1 \
    "there is no data/admin.kubeconfig: the server makes it when it starts with tls-listen" \
    "$vedette" kubeconfig --data data --user ann
tap "no token was made for it" sh -c "'$vedette' token list --data data | grep -c . | grep -q -x 1"
tap "a server starts" start

member() { sed -n "s/^ *$2: *//p" "$1" | tr -d "\"'"; }
tap "a kubeconfig" "$vedette" kubeconfig --data data --user ann --groups dev,ops \
    --output ann.kubeconfig
tap "is private" [ "$(stat -c %a ann.kubeconfig)" = 600 ]
tap "names the server" [ "$(member ann.kubeconfig server)" = "$https" ]
member ann.kubeconfig certificate-authority-data | base64 -d >ann.ca
tap "has its CA" cmp ann.ca data/pki/ca.crt
token=$(member ann.kubeconfig token)
reads() { [ "$(as "$token" /api/v1/namespaces -o reads.out -w '%{http_code}')" = "$1" ]; }
tap "its user is known, and may do nothing yet" until_true reads 403
tap "by name" grep -q 'User \\"ann\\" cannot list resource' reads.out
bind() {
    post /apis/rbac.authorization.k8s.io/v1/clusterrolebindings ClusterRoleBinding \
        '"metadata":{"name":"ops"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
        "kind":"ClusterRole","name":"view"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io",
        "kind":"Group","name":"ops"}]'
}
tap "a role for one of the groups" bind
tap "lets it in" until_true reads 200
if command -v kubectl >/dev/null; then
    with_kubectl() {
        HOME=$scratch kubectl --kubeconfig "$1" get configmaps -o name >kubectl.out 2>&1 &&
            grep -q -x configmap/kube-root-ca.crt kubectl.out && return 0
        cat kubectl.out
        return 1
    }
    tap "kubectl works with it" with_kubectl ann.kubeconfig
    tap "a name that YAML would take apart" "$vedette" kubeconfig --data data \
        --user 'a: "b" #c' --groups ops --output odd.kubeconfig
    tap "works, too" until_true with_kubectl odd.kubeconfig
fi
tap "the token is listed as what it is" \
    sh -c "'$vedette' token list --data data | grep -q 'ann  *dev,ops  *never  *kubeconfig\$'"
id=$(sed -n 's/^# .*its token has the id \([0-9a-f]*\)\.$/\1/p' ann.kubeconfig)
tap "it can be revoked by the id that the file says" "$vedette" token revoke --data data --id "$id"
tap "and is no good then" until_true reads 401

tokens() { "$vedette" token list --data data | wc -l; }
before=$(tokens)
tap "a file that exists is kept" says 1 \
    "ann.kubeconfig exists: name another file, or replace it with --force" \
    "$vedette" kubeconfig --data data --user ann --output ann.kubeconfig
tap "a file nowhere" says 1 "could not make no/file" \
    "$vedette" kubeconfig --data data --user ann --output no/file
tap "no token is left of either" [ "$(tokens)" = "$before" ]
tap "it can be replaced" "$vedette" kubeconfig --data data --user ann --output ann.kubeconfig \
    --force
tap "without a file it is printed" sh -c "'$vedette' kubeconfig --data data --user ann \
    --expires 1h --server https://vedette.example:6443 >printed"
tap "with the server that was given" [ "$(member printed server)" = https://vedette.example:6443 ]
tap "a server without HTTPS" says 2 "'--server' wants a URL such as https://" \
    "$vedette" kubeconfig --data data --user ann --server http://127.0.0.1:8080
tap "no time" says 2 "'--expires' wants more than no time" \
    "$vedette" kubeconfig --data data --user ann --expires 0s
tap "a user that is the server's own" says 1 "system:anonymous" \
    "$vedette" kubeconfig --data data --user system:anonymous
tap "the server stops" stop
tap_end
