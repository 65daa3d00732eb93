#!/bin/sh
# What `make run` starts: a server with the demo repository, and commands that work as they are
# printed. The folder has a blank and a quote in its name, as folders may.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git_shop.sh
. "$here/git_shop.sh"
# shellcheck disable=SC2154 # tap.sh sets it
tools=$(cd "$top/tools" && pwd)
data="$scratch/it's data"
KUBECONFIG=$data/admin.kubeconfig

# k ARGUMENT...: kubectl in the namespace of the demo.
k() { timeout 60 "$kubectl" -n default "$@"; }

# The server's own words end with a line in its log, the demo's with the last one of its text.
is_shown() { grep -q '^and meanwhile' out || is_gone; }
is_ready() { grep -q '^ready ' out || is_gone; }

# run: what make run does, on the doors it had before.
run() {
    : >out
    "$tools/run.sh" "$vedette" --data "$data" --listen "${http_door:-127.0.0.1:0}" \
        --tls-listen "${https_door:-127.0.0.1:0}" >out 2>>err &
    pid=$!
    until_true "${1:-is_shown}"
    https_door=$(sed -n 's,^ready .*https://\([^ ]*\).*,\1,p' out)
    http_door=$(sed -n 's,^ready .*http://\([^ ]*\).*,\1,p' out)
    [ -n "$http_door" ] && ! is_gone && return 0
    cat out err
    return 1
}

stop() {
    kill "$pid" && wait "$pid"
    stopped=$?
    pid=
    return "$stopped"
}

catalogue() {
    is 3 sh -c "$kubectl get categories -o name | wc -l" &&
        is 6 sh -c "$kubectl get variants -o name | wc -l" &&
        is 14 field repository catalog .status.resources &&
        shows '^desk-lamp +Desk lamp +lighting ' k get products
}

body() { k get product teapot -o 'jsonpath={.body}' | cmp - body.md; }

# watched: what the watch has printed by now.
watched() { grep -q 'A brighter lamp' watched.out; }

# The commands between the two sentences, in one shell and in a folder of their own, beside a watch.
paste() {
    sed -n "/^A shop's catalogue/,/^and meanwhile/p" out | sed -n 's/^  //p' >commands.sh
    timeout 60 "$kubectl" -n default get products -w >watched.out 2>&1 &
    watch=$!
    until_true grep -q desk-lamp watched.out
    mkdir pasted
    (cd pasted && timeout 60 sh -e ../commands.sh) >pasted.out 2>&1
    pasted=$?
    until_true watched # the bytes were sent before the push was answered; kubectl has to print them
    seen=$?
    kill "$watch"
    wait "$watch" 2>/dev/null
    [ "$pasted" -eq 0 ] && grep -q 'remote: admitted 1 resource at resourceVersion' pasted.out &&
        [ "$seen" -eq 0 ] && return 0
    cat commands.sh pasted.out watched.out
    return 1
}

version() { field repository catalog .metadata.resourceVersion .status.lastAdmission.commit; }
unchanged() {
    run && is "$before" version && is "A brighter lamp" field product desk-lamp .spec.title
}

again() { git -C pasted/catalog commit -q --allow-empty -m again && git -C pasted/catalog push -q; }

not_mentioned() { ! grep -q "catalogue" out; }

port_is_taken() {
    "$tools/run.sh" "$vedette" --data other --listen "$http_door" --tls-listen off \
        >taken.out 2>&1
    [ $? -eq 1 ] && grep -q 'Address already in use' taken.out
}

awk 'at == 2; /^---$/ { at++ }' "$top/examples/catalog/products/teapot.md" >body.md
tap "a server with the demo repository" run
tap "three categories, five products, six variants" catalogue
tap "the text of a product is its body" body
tap "only the owner reads the credentials" is 600 stat -c %a "$data/git-credentials"
tap "the commands that it prints, and a watch that sees the change before the push ends" paste
tap "it stops in order" stop
tap "it starts again" run
before=$(version)
tap "and stops" stop
tap "the third start changes nothing" unchanged
tap "the clone still pushes" again
tap "a port that is taken ends it" port_is_taken
k patch repository catalog --type merge -p '{"spec":{"deletionPolicy":"Cascade"}}' >/dev/null
tap "a repository that was deleted" k delete repository catalog --timeout 60s
tap "stays so" eval 'stop && run is_ready && until_true grep -q "kubectl get cm -w" out &&
    absent repository catalog && not_mentioned'
cp -R "$top/examples/catalog" files
tap "and its files are manifests without a mistake" \
    shows '^14 manifests in [0-9]+ files: 0 errors' "$vedette" lint files
tap_end
