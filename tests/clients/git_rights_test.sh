#!/bin/sh
# Repositories and the rights of others: who may write, delete and push to a Repository uses no
# right that he does not have himself.
#
# bob may push to shop/catalog and no more; dan may write the Repositories of shop and no more; eve
# has the role edit in shop.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git_shop.sh
. "$here/git_shop.sh"

tree=catalog

# as USER ARGUMENT...: kubectl in the user's name.
as() {
    as_user=$1
    shift
    k --as="$as_user" "$@"
}

make_users() {
    bob=$("$vedette" token create --data data --user bob) &&
        k create role pusher --verb=get,update \
            --resource=repositories.git.vedette.dev/contents --resource-name=catalog &&
        k create rolebinding pusher --role=pusher --user=bob &&
        k create role writer --verb='*' --resource=repositories.git.vedette.dev &&
        k create rolebinding writer --role=writer --user=dan &&
        k create rolebinding editor --clusterrole=edit --user=eve &&
        repository catalog 'scope: {namespaces: [other], clusterScoped: [namespaces]}' &&
        k create namespace other && k create serviceaccount robot &&
        k create secret generic login --from-literal=token=x
}

# push_as TOKEN: the commit, by somebody else.
push_as() { push "$(url catalog "$1")" HEAD:main; }

# undo: the work tree is as the server has it.
undo() { g fetch -q origin && g reset -q --hard origin/main; }

# follower NAME MORE: the manifest of a Repository that follows a remote that nobody serves.
follower() {
    printf '%s\n' 'apiVersion: git.vedette.dev/v1' 'kind: Repository' "metadata: {name: $1}" \
        "spec: {remote: {url: 'https://127.0.0.1:9/x.git', $2}}"
}

# ---- what a Repository that follows a remote is given ----

pusher_names_an_account() {
    map one >catalog/one.yaml && change || return 1
    follower evil 'serviceAccountName: robot' >catalog/evil.yaml
    commit evil && ! push_as "$bob" >said &&
        grep -q 'evil.yaml:.*bob.*"impersonate" on serviceaccounts "robot"' said &&
        absent repository evil && undo
}

writer_names_what_is_not_his() {
    for verb in "create" "apply --server-side"; do
        # shellcheck disable=SC2086 # words
        follower evil '' | refuses '"impersonate" on serviceaccounts "default"' \
            as dan $verb -f - || return 1
    done
    k create role speaker --verb=impersonate --resource=serviceaccounts --resource-name=robot &&
        k create rolebinding speaker --role=speaker --user=dan || return 1
    follower evil 'serviceAccountName: robot, secretRef: {name: login}' >evil.yaml
    until_true refuses '"get" on secrets "login"' as dan create --dry-run=server -f evil.yaml &&
        follower fine 'serviceAccountName: robot' | as dan create -f - && k delete repository fine
}

writer_changes_what_another_has_made() {
    as eve create -f evil.yaml &&
        as dan label repository evil a=b &&
        refuses '"get" on secrets "login"' as dan patch repository evil --type=merge \
            -p '{"spec":{"remote":{"url":"https://127.0.0.1:9/y.git"}}}' &&
        as eve patch repository evil --type=merge \
            -p '{"spec":{"remote":{"url":"https://127.0.0.1:9/z.git"}}}' &&
        k delete repository evil
}

# ---- what a cascade deletes ----

# owner NAME: a Repository that deletes its objects, and its manifests: a ConfigMap of its own
# namespace, one of another, and a namespace.
owner() {
    repository "$1" 'deletionPolicy: Cascade,
        scope: {namespaces: [other], clusterScoped: [namespaces]}' && fill "$1"
}
fill() {
    map "$1" >"$1/own.yaml"
    printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: other}}\n' "$1" \
        >"$1/other.yaml"
    printf '{apiVersion: v1, kind: Namespace, metadata: {name: %s}}\n' "$1" >"$1/namespace.yaml"
    tree=$1
    change
    fill_status=$?
    tree=catalog
    return "$fill_status"
}
both_stay() { k -n other get configmap "$1" && k get namespace "$1" && k get configmap "$1"; }
both_gone() {
    refuses "not found" k -n other get configmap "$1" && refuses "not found" k get namespace "$1" &&
        absent configmap "$1"
}

all=/apis/git.vedette.dev/v1/namespaces/shop/repositories
selected="$all?fieldSelector=metadata.name%3D"

editor_deletes_a_cascade() {
    owner first &&
        refuses 'owns configmaps "first" of the namespace other' as eve delete repository first &&
        refuses '"delete" on that object' as eve delete --dry-run=server repository first &&
        refuses 'owns configmaps' as eve delete --raw "${selected}first" && both_stay first &&
        is "" field repository first .metadata.deletionTimestamp
}

# With each right there is one object less that is in the way.
editor_gets_the_rights() {
    k -n other create role cleaner --verb=delete --resource=configmaps --resource-name=first &&
        k -n other create rolebinding cleaner --role=cleaner --user=eve &&
        until_true refuses 'owns namespaces "first" of no namespace' \
            as eve delete repository first &&
        k create clusterrole cleaner --verb=delete --resource=namespaces --resource-name=first &&
        k create clusterrolebinding cleaner --clusterrole=cleaner --user=eve &&
        until_true as eve delete --raw "${selected}first" && until_true both_gone first &&
        until_true absent repository first
}

pusher_removes_the_manifest() {
    cat >catalog/second.yaml <<SECOND
apiVersion: git.vedette.dev/v1
kind: Repository
metadata: {name: second}
spec: {deletionPolicy: Cascade, scope: {namespaces: [other], clusterScoped: [namespaces]}}
SECOND
    change && git clone -q "$(url second)" second && fill second || return 1
    g rm -q second.yaml
    commit gone && ! push_as "$bob" >said &&
        grep -q 'second.yaml:.*owns configmaps "second"' said && both_stay second &&
        push origin HEAD:main && until_true both_gone second
}

# Nobody with a right to the objects has deleted it: an owner of the Repository has gone.
collector_deletes_a_cascade() {
    owner third && k create configmap owner && uid=$(field configmap owner .metadata.uid) &&
        as eve patch repository third --type=merge -p "{\"metadata\":{\"ownerReferences\":[{
            \"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"owner\",\"uid\":\"$uid\"}]}}" &&
        as eve delete configmap owner || return 1
    until_true shows 'owns 2 objects outside its namespace' field repository third \
        '.status.conditions[?(@.type=="Ready")].message' &&
        until_true absent configmap third && k -n other get configmap third &&
        k get namespace third || return 1
    map late >third/late.yaml
    tree=third
    change && return 1
    tree=catalog
    k delete repository third --timeout=60s && until_true both_gone third
}

namespace_is_deleted() {
    k create namespace brief && k -n brief apply -f - <<BRIEF || return 1
apiVersion: git.vedette.dev/v1
kind: Repository
metadata: {name: fourth}
spec: {deletionPolicy: Cascade, scope: {namespaces: [other]}}
BRIEF
    git clone -q "http://ann:$token@$http_door/brief/fourth.git" fourth || return 1
    printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: fourth, namespace: other}}\n' \
        >fourth/a.yaml
    tree=fourth
    change || return 1
    tree=catalog
    k delete namespace brief --timeout=60s && k -n other get configmap fourth -o yaml >kept &&
        ! grep git-repository kept && k -n other delete configmap fourth
}

# ---- what a push demands of its pusher ----

# mixed A B [VERB]: a file with a ConfigMap of the own namespace, one of another, and a Role that
# bob cannot grant.
mixed() {
    map mixed "$1"
    printf -- '---\napiVersion: v1\nkind: ConfigMap\n'
    printf 'metadata: {name: mixed, namespace: other}\ndata: {x: "%s"}\n' "$2"
    printf -- '---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n'
    printf 'metadata: {name: mixed}\n'
    printf 'rules: [{apiGroups: [""], resources: [secrets], verbs: [%s]}]\n' "${3:-get}"
}

# others: the versions of the objects that are not bob's to change.
others() {
    k -n other get configmap mixed -o 'jsonpath={.metadata.resourceVersion}'
    k get role mixed -o 'jsonpath= {.metadata.resourceVersion}'
}

# bob_may, bob_may_not TEXT: push what the work tree has.
bob_may() { commit "bob's" && push_as "$bob" && is "$kept" others; }
bob_may_not() {
    commit "bob's" && ! push_as "$bob" >said && cat said && grep -q -e "$1" said &&
        is "$kept" others && undo
}

only_changes_need_rights() {
    mixed 1 1 >catalog/mixed.yaml && change && kept=$(others) || return 1
    mixed 2 1 >catalog/mixed.yaml
    bob_may && is 2 field configmap mixed .data.x || return 1
    echo 'exclude: [drafts/]' >catalog/.vedette.yaml
    bob_may && g fetch -q origin || return 1
    mixed 3 2 >catalog/mixed.yaml
    bob_may_not 'mixed.yaml:.*cannot update resource "configmaps"' || return 1
    mixed 3 1 delete >catalog/mixed.yaml
    bob_may_not 'mixed.yaml:.*RBAC permissions not currently held' || return 1
    echo 'labels: {a: b}' >catalog/.vedette.yaml
    bob_may_not 'cannot update resource "configmaps"' || return 1
    g mv mixed.yaml moved.yaml
    bob_may_not 'cannot update resource "configmaps"'
}

# What somebody has overridden would be written again.
drift_needs_rights() {
    k -n other patch configmap mixed --type=merge -p '{"data":{"x":"9"},"metadata":{"annotations":
        {"vedette.dev/override":"a test"}}}' && kept=$(others) || return 1
    mixed 4 1 >catalog/mixed.yaml
    bob_may_not 'cannot update resource "configmaps"' && g merge -q origin/main &&
        mixed 4 1 >catalog/mixed.yaml && change && kept=$(others)
}

scope_counts_for_changes() {
    k patch repository catalog --type=merge -p '{"spec":{"scope":null}}' || return 1
    mixed 5 1 >catalog/mixed.yaml
    bob_may && g fetch -q origin || return 1
    mixed 5 2 >catalog/mixed.yaml
    ! change >said && grep -q 'mixed.yaml:.*spec.scope.namespaces' said && is "$kept" others
}

tap "a server" start_server
tap "a shop, and users" open_shop
tap "users with few rights" make_users
tap "a pusher does not name an account that he may not impersonate" pusher_names_an_account
tap "a writer of Repositories names no account and no Secret of others" writer_names_what_is_not_his
tap "nor does he change the spec of one that uses them" writer_changes_what_another_has_made
tap "an editor does not delete a Repository whose cascade he may not" editor_deletes_a_cascade
tap "with the rights to its objects elsewhere he does" editor_gets_the_rights
tap "nor does who pushes the removal of its manifest" pusher_removes_the_manifest
tap "the garbage collector leaves objects elsewhere alone" collector_deletes_a_cascade
tap "who deletes the namespace releases objects elsewhere" namespace_is_deleted
tap "a push demands rights for what it changes alone" only_changes_need_rights
tap "and for what it writes again" drift_needs_rights
tap "so does the scope" scope_counts_for_changes
tap_end
