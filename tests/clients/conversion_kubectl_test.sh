#!/bin/sh
# Custom objects in two versions that a webhook converts, with the kubectls that
# kubectls.sh chooses.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/kubectls.sh
. "$here/kubectls.sh"

find_kubectls
node "$top/tests/api/conversion_webhook.mjs" "$scratch" 2>hook.err &
hook=$!
trap 'kill -9 $pid $hook 2>/dev/null; rm -rf "$scratch"' EXIT
tap "a webhook" until_true test -e hook.ready
tap "a server" start_server

# k ARGUMENT...: this version's kubectl, with an end.
k() { timeout 60 "$kubectl" "$@"; }

# tab VERSION SPEC: a manifest of the object t.
tab() {
    echo "{\"apiVersion\":\"stable.example.com/$1\",\"kind\":\"CronTab\",\"metadata\":" \
        "{\"name\":\"t\"},\"spec\":$2}" >tab.json
}

mkdir -p cache
for kubectl in $kubectls; do
    v=$("$kubectl" version --client -o json 2>/dev/null |
        sed -n 's/.*"gitVersion": *"\(v[^"]*\)".*/\1/p' | head -n 1)
    tap "$v: apply of the definition" gives \
        "customresourcedefinition.apiextensions.k8s.io/crontabs.stable.example.com created" \
        k apply -f crd.json
    tap "$v: it is established" gives \
        "customresourcedefinition.apiextensions.k8s.io/crontabs.stable.example.com condition met" \
        k wait --for=condition=established --timeout=20s crd/crontabs.stable.example.com
    tab v1 '{"host":"h","port":"80"}'
    tap "$v: apply in one version" gives "crontab.stable.example.com/t created" k apply -f tab.json
    tap "$v: and again" gives "crontab.stable.example.com/t unchanged" k apply -f tab.json
    tap "$v: get in the other" gives h:80 \
        k get crontabs.v1beta1.stable.example.com t -o 'jsonpath={.spec.hostPort}{"\n"}'
    tap "$v: the columns of the one" shows '^t +h +80$' k get crontabs.v1.stable.example.com
    tap "$v: the columns of the other" shows '^t +h:80$' k get crontabs.v1beta1.stable.example.com
    tab v1 '{"host":"h","port":"81"}'
    tap "$v: apply of a change" gives "crontab.stable.example.com/t configured" k apply -f tab.json
    : >watch.out
    timeout 60 "$kubectl" get crontabs.v1.stable.example.com -w >watch.out 2>&1 &
    watch=$!
    tap "$v: a watch begins" until_true grep -q -E '^t +h +81$' watch.out
    tap "$v: patch in the other version" gives "crontab.stable.example.com/t patched" \
        k patch crontabs.v1beta1.stable.example.com t --type=merge -p '{"spec":{"hostPort":"g:82"}}'
    tap "$v: the watch sees it" until_true grep -q -E '^t +g +82$' watch.out
    kill "$watch" && wait "$watch" 2>/dev/null
    tap "$v: server-side apply" gives "crontab.stable.example.com/t serverside-applied" \
        k apply --server-side --force-conflicts -f tab.json
    kill -STOP "$hook"
    tap "$v: delete while the webhook does not answer" gives \
        'crontab.stable.example.com "t" deleted' k delete --wait=false -f tab.json
    kill -CONT "$hook"
    tap "$v: delete of the definition" gives \
        'customresourcedefinition.apiextensions.k8s.io "crontabs.stable.example.com" deleted' \
        k delete crd crontabs.stable.example.com
done
tap_end
