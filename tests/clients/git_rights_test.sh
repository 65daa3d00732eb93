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

tap "a server" start_server
tap "a shop, and users" open_shop
tap "users with few rights" make_users
tap "a pusher does not name an account that he may not impersonate" pusher_names_an_account
tap "a writer of Repositories names no account and no Secret of others" writer_names_what_is_not_his
tap "nor does he change the spec of one that uses them" writer_changes_what_another_has_made
tap_end
