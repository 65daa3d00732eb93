#!/bin/sh
# Pushes that are refused: every mistake is named with its place, and nothing has changed.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git_shop.sh
. "$here/git_shop.sh"

tree=catalog

category() {
    cat <<CATEGORY
apiVersion: catalog.gitstore.dev/v1beta1
kind: CategoryTaxonomy
metadata:
  name: $1
spec:
  title: T
CATEGORY
    [ -z "${2:-}" ] || printf '  parentRef: {name: %s}\n' "$2"
}

# undo: the work tree is as the server has it.
undo() { g fetch -q origin && g reset -q --hard origin/main && g clean -qfdx; }

# is_refused TEXT...: the change is refused with lines that have these texts, and with no others;
# the server is as it was.
is_refused() {
    before=$(field repository catalog .metadata.resourceVersion)
    change >said
    status=$?
    for line; do
        grep -qF -e "remote: $line" said || {
            echo "no line: $line"
            cat said
            return 1
        }
    done
    [ "$status" -ne 0 ] && is "$#" sh -c "grep -c '^remote: .' said | xargs expr -1 +" &&
        is "$before" field repository catalog .metadata.resourceVersion && agree catalog main &&
        undo
}

secret() { printf 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n'; }

hides_secrets() {
    { secret; echo 'data: {p: "S3cr3t!"}'; } >catalog/data.yaml
    { secret; echo 'stringData: {p: *S3cr3t}'; } >catalog/alias.yaml
    { secret; echo 'stringData: {p: !S3cr3t x}'; } >catalog/tag.yaml
    { secret; echo 'stringData: {p: !!binary S3cr3t!}'; } >catalog/binary.yaml
    { secret; printf '%s\n' 'stringData: {p: "S3cr3t\q"}'; } >catalog/escape.yaml
    { secret; echo 'stringData: {p: S3cr3t, p: S3cr3t}'; } >catalog/twice.yaml
    echo '{"apiVersion":"v1","kind":"Secret","data":{"p":"S3cr3t!}}' >catalog/cut.json
    is_refused 'data.yaml:4:8: data.p: Invalid value: (hidden)' \
        'alias.yaml:4:17: stringData.p: the alias has no anchor' \
        'tag.yaml:4:17: stringData.p: the tag has no meaning' 'binary.yaml:4:17: stringData.p: ' \
        'escape.yaml:4:24: stringData.p: ' 'twice.yaml:4:25: stringData.p: ' 'cut.json:' &&
        ! grep S3cr3t said && ! grep S3cr3t err
}

# hidden PATH BODY ARGUMENT...: the request is refused, and the answer does not quote the body.
hidden() {
    hidden_path=$1 hidden_body=$2
    shift 2
    curl -sS -m 20 -H "Authorization: Bearer $token" "$@" -d "$hidden_body" \
        "$http/api/v1/namespaces/shop/secrets$hidden_path" >said &&
        grep -q '"status": *"Failure"' said && ! grep S3cr3t said && return 0
    cat said
    return 1
}

hides_sent_secrets() {
    k create secret generic old --from-literal=p=x &&
        hidden '' '{"metadata":{"name":"s"},"data":{"p":"S3cr3t!"}}' \
            -H 'Content-Type: application/json' &&
        grep -qF 'data.p: Invalid value: (hidden)' said &&
        hidden '' "$(secret; echo 'data: {p: *S3cr3t}')" -H 'Content-Type: application/yaml' &&
        hidden '/old?fieldValidation=Strict' '{"stringData":{"p":"S3cr3t"},"x":1}' -X PATCH \
            -H 'Content-Type: application/merge-patch+json' &&
        grep -qF 'patch: Invalid value: (hidden)' said &&
        hidden /old '{"data":{"p":"S3cr3t","$patch":"odd"}}' -X PATCH \
            -H 'Content-Type: application/strategic-merge-patch+json' &&
        grep -qF '(hidden)' said &&
        hidden /old '[{"op":"test","path":"/data/p","value":"S3cr3t"}]' -X PATCH \
            -H 'Content-Type: application/json-patch+json' &&
        hidden '/s?fieldManager=t' "$(secret; echo 'data: {p: [S3cr3t]}')" -X PATCH \
            -H 'Content-Type: application/apply-patch+yaml' &&
        ! grep S3cr3t err
}

several() {
    map fine >catalog/fine.yaml
    cat >catalog/wrong.yaml <<WRONG
apiVersion: v1
kind: ConfigMap
metadata:
  name: Wrong_Name
data: {x: 1}
---
apiVersion: catalog.gitstore.dev/v1beta1
kind: Product
metadata: {name: b}
spec:
  titel: x
  title: $(printf '%0250d' 0)
---
apiVersion: nowhere.example.com/v1
kind: Thing
metadata: {name: foo}
WRONG
    printf 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\nstatus: {}\n' >catalog/status.yaml
    change >said && return 1
    for line in 'status.yaml:4:1: status: ' 'wrong.yaml:4:3: metadata.name: ' \
        'wrong.yaml:5:8: data.x: ' 'wrong.yaml:11:3: spec.titel: ' 'wrong.yaml:12:3: spec.title: ' \
        'wrong.yaml:15:1: kind: '; do
        grep -qF -e "remote: $line" said || {
            echo "no line: $line"
            cat said
            return 1
        }
    done
    grep -qxF 'remote: the push is refused for 6 errors; nothing has changed' said &&
        absent configmap fine && undo
}

twins() {
    map twin >catalog/a.yaml
    map twin >catalog/b.yaml
    is_refused 'b.yaml:4:3: metadata.name: a.yaml:4 describes the same object; remove one'
}

twin_of_unchanged() {
    map base >catalog/copy.yaml
    is_refused 'copy.yaml:4:3: metadata.name: base.yaml describes the same object; remove one'
}

of_the_api() {
    k create configmap theirs --from-literal=a=b
    map theirs >catalog/theirs.yaml
    is_refused 'theirs.yaml:4:3: metadata.name: there is such an object already, and it belongs to'
}

other_namespace() {
    { map far; } | sed 's/  name: far/&\n  namespace: default/' >catalog/far.yaml
    is_refused 'far.yaml:5:3: metadata.namespace: this repository writes namespace shop: it may'
}

cluster_scoped() {
    printf 'apiVersion: v1\nkind: Namespace\nmetadata: {name: mine}\n' >catalog/mine.yaml
    is_refused 'mine.yaml:2:1: kind: a Namespace belongs to no namespace: this repository may'
}

# With the scope, the pusher needs the right himself.
scope_and_right() {
    k patch repository catalog --type=merge -p '{"spec":{"scope":{"namespaces":["default"]}}}' &&
        k create role pusher --verb=get,update --resource=repositories.git.vedette.dev/contents &&
        k create rolebinding pusher --role=pusher --user=bob &&
        bob=$("$vedette" token create --data data --user bob) || return 1
    map far | sed 's/  name: far/&\n  namespace: default/' >catalog/far.yaml
    commit far || return 1
    refuses 'far.yaml:1:1: User "bob" cannot create resource "configmaps" in API group ""' \
        push "$(url catalog "$bob")" HEAD:main && push origin HEAD:main &&
        k get -n default configmap far
}

parent_with_child() {
    category root >catalog/root.yaml
    category leaf root >catalog/leaf.yaml
    change || return 1
    g rm -q root.yaml
    is_refused 'root.yaml: CategoryTaxonomy root cannot be deleted: CategoryTaxonomy leaf refers' ||
        return 1
    g rm -q root.yaml leaf.yaml
    change && absent category root
}

own_parent() {
    category self self >catalog/self.yaml
    is_refused 'self.yaml:7:3: spec.parentRef: refers to the object itself'
}

links() {
    ln -s base.yaml catalog/link.yaml
    change >said && grep -q '^remote: link.yaml: warning: ' said && agree catalog main
}

too_large() {
    k patch repository catalog --type=merge -p '{"spec":{"limits":{"fileBytes":2000,"files":3}}}' &&
        { map large && printf '  y: "%03000d"\n' 0; } >catalog/large.yaml || return 1
    change >said && return 1
    grep -q '^remote: large.yaml: ' said && grep -q 2000 said && undo || {
        cat said
        return 1
    }
}

too_many() {
    for i in 1 2 3 4; do map "n$i" >"catalog/n$i.yaml"; done
    refuses 'remote: more than 3 files are changed; push them in several pushes, or raise' \
        change && absent configmap n1 && undo
}

odd_ref() {
    refuses 'refs/notes/x: only branches (refs/heads/) and tags (refs/tags/) can be pushed' \
        push origin HEAD:refs/notes/x
}

# Two who have the same commit push: the second is told to fetch.
stale() {
    git clone -q "$(url catalog)" other && map first >catalog/first.yaml && change || return 1
    map second >other/second.yaml
    tree=other
    commit second && refuses 'fetch first' push origin main
    stale_status=$?
    tree=catalog
    return "$stale_status"
}

markdown_body() {
    printf -- '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: words}\n---\nA body.\n' \
        >catalog/words.md
    change >said && return 1
    grep -q '^remote: words.md:6:1: body: ' said && undo || {
        cat said
        return 1
    }
}

start_server >/dev/null
open_shop >/dev/null
repository catalog "" >/dev/null 2>&1
map base >catalog/base.yaml
tap "a push is admitted" change
tap "all mistakes of all files are named" several
tap "no value of a Secret is quoted" hides_secrets
tap "nor by the API" hides_sent_secrets
tap "two files with one object" twins
tap "one of which did not change" twin_of_unchanged
tap "an object of the API" of_the_api
tap "another namespace" other_namespace
tap "an object without a namespace" cluster_scoped
tap "the scope allows it to those who have the right" scope_and_right
tap "a parent stays while it has children" parent_with_child
tap "an object is not its own parent" own_parent
tap "links are not followed, and a warning says so" links
tap "a body where the kind has none" markdown_body
tap "a ref that is neither branch nor tag" odd_ref
tap "who comes second has to fetch" stale
tap "a file that is too large" too_large
tap "too many files" too_many
tap_end
