#!/bin/sh
# The acceptance scenarios of pushes and deletions by name: G1 to G11, D1 and D4 to D9.
#
# What is different here, or is tested elsewhere:
# - G6 and G8 speak of validation and admission as services apart from the server. Here both are
#   parts of it: G6 is a push that comes second, and of G8 it remains that a server that has died
#   admits nothing and that the next push works; tests/fault/git_crash_test.sh has the rest.
# - G11 speaks of the stream between git and the validation service. Its place is the channel of the
#   hooks: a hook that somebody else runs, without the server's channel, refuses.
# - D2, D3 and D10 are a controller's of the catalogue; D11 is about manifests of namespaces.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git_shop.sh
. "$here/git_shop.sh"

tree=catalog

# object KIND NAME [LINE...]: a manifest of the catalogue; lines of its spec.
object() {
    printf 'apiVersion: catalog.gitstore.dev/v1beta1\nkind: %s\nmetadata: {name: %s}\n' "$1" "$2"
    shift 2
    if [ $# -eq 0 ]; then echo 'spec: {}'; else echo 'spec:'; fi
    for object_line; do echo "  $object_line"; done
}
category() { object CategoryTaxonomy "$1" "title: $1" ${2:+"parentRef: {name: $2}"}; }

# undo: the work tree is as the server has it.
undo() { g fetch -q origin && g reset -q --hard origin/main && g clean -qfdx; }

# refused TEXT...: the change is refused with lines that have these texts; nothing has changed.
refused() {
    before=$(field repository catalog .metadata.resourceVersion)
    change >said && return 1
    for text; do
        grep -qF -e "$text" said || {
            echo "no line: $text"
            cat said
            return 1
        }
    done
    is "$before" field repository catalog .metadata.resourceVersion && agree catalog main && undo
}

g1() {
    object Product fine "title: fine" >catalog/fine.yaml
    object Produkt a >catalog/kind.yaml
    { object Product b && echo 'status: {}'; } >catalog/status.yaml
    object Product c "title: $(printf '%0201d' 0)" >catalog/title.yaml
    object Product d "media: [{kind: image, fileRef: {}}]" >catalog/media.yaml
    refused kind.yaml: status.yaml:5:1 title.yaml:5:3 media.yaml: 'nothing has changed' &&
        absent product fine
}

g2() {
    object Product empty >catalog/empty.yaml
    change && k get product empty || return 1
    echo words >catalog/README.md
    change >said && grep -qx 'remote: no resources changed' said
}

g3() {
    object Product shoe "title: A shoe" >catalog/shoe.yaml
    change || return 1
    field product shoe .metadata.uid .metadata.resourceVersion >kept
    grep -qE '^[0-9a-f-]{36} [0-9]+$' kept && is "A shoe" field product shoe .spec.title &&
        is "AdmissionAccepted True" field product shoe '.status.conditions[0].type' \
            '.status.conditions[0].status'
}

g4() {
    uid=$(field product shoe .metadata.uid)
    object Product shoe "title: Another shoe" >catalog/shoe.yaml
    change && is "$uid 2" field product shoe .metadata.uid .metadata.generation || return 1
    version=$(field product shoe .metadata.resourceVersion)
    g mv shoe.yaml boot.yaml
    change && is "$uid 2" field product shoe .metadata.uid .metadata.generation &&
        [ "$(field product shoe .metadata.resourceVersion)" -gt "$version" ]
}

g5() {
    g rm -q boot.yaml
    change && absent product shoe || return 1
    object Product shoe "title: A shoe" >catalog/shoe.yaml
    change && is 1 field product shoe .metadata.generation &&
        [ "$(field product shoe .metadata.uid)" != "$uid" ]
}

g6() {
    git clone -q "$(url catalog)" second && object Product late >second/late.yaml || return 1
    object Product early >catalog/early.yaml
    change || return 1
    tree=second
    commit late && refuses 'fetch first' push origin main
    g6_status=$?
    tree=catalog
    [ "$g6_status" -eq 0 ] && absent product late && k get product early
}

g7() {
    g checkout -q --orphan release && g rm -qrf . && object Product released >catalog/r.yaml &&
        commit release && push origin release && k get product released &&
        push origin :release && absent product released && k get product shoe &&
        push origin release && k get product released && agree catalog release &&
        push origin :release && g checkout -q main
}

g8() {
    object Product during >catalog/during.yaml
    commit during || return 1
    kill_server
    push origin main && return 1
    start_server >/dev/null && absent product during && until_true push origin main &&
        k get product during
}

# Files that did not change are not read: one that has become wrong since is no reason to refuse.
g9() {
    k patch repository catalog --type=merge -p '{"spec":{"limits":{"files":1}}}' || return 1
    object Product shoe "title: One file" >catalog/shoe.yaml
    change >said && grep -q 'admitted 1 resource at' said &&
        k patch repository catalog --type=merge -p '{"spec":{"limits":{"files":null}}}'
}

status_of() { curl -s -o /dev/null -w '%{http_code}' -m 60 "$@"; }

g10() {
    receive='info/refs?service=git-receive-pack'
    k create role reader --verb=get --resource=repositories.git.vedette.dev/contents &&
        k create rolebinding reader --role=reader --user=bob &&
        bob=$("$vedette" token create --data data --user bob) || return 1
    is 401 status_of "$http/shop/catalog.git/$receive" &&
        is 403 status_of -u "x:$bob" "$http/shop/catalog.git/$receive" &&
        is 404 status_of -u "x:$token" "$http/shop/nowhere.git/$receive" || return 1
    k patch repository catalog --type=merge -p '{"spec":{"limits":{"packBytes":20000}}}' || return 1
    head -c 100000 /dev/urandom >catalog/noise
    commit noise && ! push origin main && agree catalog main && g reset -q --hard HEAD~1 &&
        k patch repository catalog --type=merge \
            -p '{"spec":{"limits":{"packBytes":null,"fileBytes":1024}}}' || return 1
    { object Product large && printf '# %02000d\n' 0; } >catalog/large.yaml
    refused large.yaml: &&
        k patch repository catalog --type=merge -p '{"spec":{"limits":{"fileBytes":null}}}'
}

# tests/cli/hook_test.sh has what a hook is told that is not of its push.
g11() {
    ln -s "$vedette" pre-receive && echo x >commands && ! ./pre-receive <commands
}

d1() {
    category root >catalog/root.yaml
    category leaf root >catalog/leaf.yaml
    change || return 1
    g rm -q root.yaml
    refused 'root.yaml: CategoryTaxonomy root cannot be deleted: CategoryTaxonomy leaf refers'
}

d4() {
    g rm -q root.yaml leaf.yaml
    change && absent category root && absent category leaf || return 1
    category root >catalog/root.yaml
    category leaf root >catalog/leaf.yaml
    category other >catalog/other.yaml
    change || return 1
    category leaf other >catalog/leaf.yaml
    g rm -q root.yaml
    change && absent category root && is other field category leaf .spec.parentRef.name
}

d5() {
    category drain >catalog/drain.yaml
    change && k patch category drain --type=merge -p '{"metadata":{"finalizers":["a.b/wait"]}}' &&
        g rm -q drain.yaml && change && [ -n "$(field category drain .metadata.deletionTimestamp)" ]
}

# What is being deleted does not take new children: it stays until its finalizers are gone.
d6() {
    category child drain >catalog/child.yaml
    refused 'child.yaml:' && k get category drain
}

d7() {
    k create configmap gone --from-literal=a=b
    object Product twice >catalog/twice.yaml
    change && g rm -q twice.yaml && change && absent product twice || return 1
    push origin main >said && grep -q 'Everything up-to-date' said
}

d8() {
    object Product of-drain "categoryRef: {name: drain}" >catalog/of.yaml
    refused 'of.yaml:5:3: spec.categoryRef: '
}

d9() {
    kill_server
    start_server >/dev/null && until_true k get category drain || return 1
    k patch category drain --type=merge -p '{"metadata":{"finalizers":null}}' &&
        until_true absent category drain && category drain >catalog/drain.yaml &&
        until_true push origin main && change && k get category drain
}

start_server >/dev/null
open_shop >/dev/null
repository catalog 'branches: [main, release]' >/dev/null 2>&1
object Product base >catalog/base.yaml
tap "a push is admitted" change
tap "G1: all violations are told, and the whole push is refused" g1
tap "G2: an empty spec, and a push without manifests" g2
tap "G3: what is pushed is there, with uid, resourceVersion and AdmissionAccepted" g3
tap "G4: generation counts specs, not paths" g4
tap "G5: a file that goes, and comes back as another object" g5
tap "G6: who comes second is not admitted" g6
tap "G7: a branch takes its objects along, and no others" g7
tap "G8: a dead server admits nothing" g8
tap "G9: one changed file is one that is read" g9
tap "G10: 401, 403, 404, and what is too large" g10
tap "G11: hooks without the server's channel refuse" g11
tap "D1: a parent with a child stays" d1
tap "D4: both go in one push, or the child goes elsewhere" d4
tap "D5: Terminating is seen" d5
tap "D6: no child comes to what is Terminating" d6
tap "D7: what is gone already" d7
tap "D8: no reference to what is Terminating" d8
tap "D9: a restart in between" d9
tap_end
