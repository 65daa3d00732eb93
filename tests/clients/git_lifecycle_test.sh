#!/bin/sh
# The life of a hosted repository: its folder comes and goes with the object, also over kill -9;
# what an interrupted push has left is mended at start; what the repository owns goes with it or
# keeps it.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git.sh
. "$(dirname "$0")/git.sh"

delete() { call DELETE "$repositories/$1" >delete.json; }
is_deleted() { ! call GET "$repositories/$1" >/dev/null 2>&1; }

deletion_removes_the_folder() {
    repository gone && fill gone 2 || return 1
    where=$(folder gone)
    [ -d "$where" ] && delete gone && until_true is_deleted gone && [ ! -e "$where" ]
}

# The same name, another uid: nothing of the old one is there.
created_again() {
    repository gone && shows 'empty repository' git clone "$as_admin/default/gone.git" again
}

# manifest NAME: a ConfigMap as a file.
manifest() {
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\ndata:\n  v: "1"\n' "$1"
}

push_objects() {
    rm -rf shop
    repository shop && git init -q -b main shop || return 1
    manifest one >shop/one.yaml
    manifest two >shop/two.yaml
    git -C shop add . && git -C shop commit -q -m objects &&
        git -C shop push -q "$as_admin/default/shop.git" main &&
        call GET /api/v1/namespaces/default/configmaps/two >/dev/null
}

recorded() {
    call GET $repositories/shop | jq -r '.status.branches[] | select(.name == "main").commit'
}
ref_is() { [ "$(git --git-dir="$(folder shop)" rev-parse -q --verify "$1")" = "$2" ]; }

# Refs are moved away behind the server's back, and locks are left, as a kill -9 may leave them.
stale_locks_and_refs() {
    commit=$(recorded) && where=$(folder shop) && [ -n "$commit" ] || return 1
    kill_server
    git --git-dir="$where" update-ref -d refs/heads/main || return 1
    : >"$where/HEAD.lock"
    : >"$where/refs/heads/main.lock"
    : >"$where/packed-refs.lock"
    mkdir -p "$where/objects/tmp_objdir-incoming-x" "$scratch/data/git/$1.git" || return 1
    start_server && until_true condition_is shop Ready True && until_true ref_is main "$commit" &&
        [ -z "$(find "$where" -name '*.lock')" ] && [ ! -e "$where/objects/tmp_objdir-incoming-x" ]
}
orphan=0f1e2d3c-4b5a-4697-8877-665544332211

push_again() {
    manifest three >shop/three.yaml
    git -C shop add . && git -C shop commit -q -m three &&
        git -C shop push -q "$as_admin/default/shop.git" main
}

# A commit that the repository lost cannot be set: the condition says so, and a push still mends it.
lost_commits() {
    commit=$(recorded) && where=$(folder shop) || return 1
    kill_server
    rm -rf "$where"
    start_server && until_true condition_is shop Synced False && condition_is shop Ready True
}

refused_deletion() {
    delete shop && return 1
    call GET $repositories/shop | jq -e '.metadata.deletionTimestamp == null' >/dev/null
}

cascade() {
    curl -sS -f -m 60 -H "Authorization: Bearer $admin_token" -X PATCH \
        -H 'Content-Type: application/merge-patch+json' \
        -d '{"spec":{"deletionPolicy":"Cascade"}}' "$http$repositories/shop" >/dev/null || return 1
    where=$(folder shop)
    delete shop && until_true is_deleted shop && [ ! -e "$where" ] &&
        ! call GET /api/v1/namespaces/default/configmaps/one >/dev/null 2>&1 &&
        ! call GET /api/v1/namespaces/default/configmaps/three >/dev/null 2>&1 &&
        call GET /api/v1/namespaces/default/configmaps/kube-root-ca.crt >/dev/null
}

no_git() {
    kill "$pid" && wait "$pid"
    mkdir -p empty
    ln -sf "$(command -v sh)" empty/sh
    start_server_without_git && until_true condition_is gone Ready False &&
        refuses 'remote: there is no git in the folders of PATH' \
            git clone "$as_admin/default/gone.git" x &&
        call GET $repositories/gone | jq -r '.status.conditions[].message' | grep -q 'install git'
}
start_server_without_git() {
    : >out
    PATH=$scratch/empty "$vedette" serve --data data --listen "$http_door" \
        --tls-listen "$https_door" >out 2>>err &
    pid=$!
    until_true is_up
}

tap "a server starts" start_server --log-level warn
tap "with users" git_users
tap "deleting a Repository removes its folder" deletion_removes_the_folder
tap "one that is created again is empty" created_again
tap "a push is admitted" push_objects
tap "a start removes locks and sets refs to what the store records" stale_locks_and_refs $orphan
tap "and removes folders of nobody" until_true test ! -e "data/git/$orphan.git"
tap "pushes go on" push_again
tap "a repository that owns objects is not deleted" refused_deletion
tap "unless its policy says so: then its objects go, and the folder" cascade
tap "commits that are lost are told" eval 'push_objects && lost_commits'
tap "without git, repositories say why they are not served" no_git
tap_end
