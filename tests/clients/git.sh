# shellcheck shell=sh disable=SC2034,SC2154 # names shared with client.sh and the tests
# Sourced by tests of Git repositories, after tap.sh and client.sh: a server, tokens of some users,
# and a git client that knows no settings of this machine.
#
# $as_admin, $as_ann (who may do nothing by herself) and $as_bob (who may read all repositories) are
# the server's URL with a user's token in it; $nobody is without one.
command -v git >/dev/null || skip_all "no git here"
GIT_CONFIG_NOSYSTEM=1
GIT_TERMINAL_PROMPT=0
GIT_SSL_CAINFO=$scratch/data/pki/ca.crt
GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.com GIT_COMMITTER_NAME=t
GIT_COMMITTER_EMAIL=t@example.com
export GIT_CONFIG_NOSYSTEM GIT_TERMINAL_PROMPT GIT_SSL_CAINFO
export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
unset GIT_DIR GIT_WORK_TREE GIT_CONFIG GIT_CONFIG_PARAMETERS GIT_PROXY_COMMAND 2>/dev/null

# token NAME OPTION...
token() {
    token_user=$1
    shift
    "$vedette" token create --data data --user "$token_user" "$@"
}

# git_users: the URLs above, of a server that runs.
git_users() {
    admin_token=$(token root --groups system:masters) &&
        ann_token=$(token ann) && bob_token=$(token bob) || return 1
    as_admin=http://x:$admin_token@$http_door
    as_ann=http://ann:$ann_token@$http_door
    as_bob=http://x:$bob_token@$http_door
    nobody=http://$http_door
    call POST /apis/rbac.authorization.k8s.io/v1/clusterroles '{"metadata":{"name":"readers"},
        "rules":[{"apiGroups":["git.vedette.dev"],"resources":["repositories/contents"],
        "verbs":["get"]}]}' >/dev/null &&
        call POST /apis/rbac.authorization.k8s.io/v1/clusterrolebindings '{"metadata":
        {"name":"readers"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",
        "name":"readers"},"subjects":[{"kind":"User","name":"bob"}]}' >/dev/null
}

# call METHOD PATH [BODY]: the administrator's; the answer's body; fails when it is refused.
call() {
    curl -sS -f -m 60 -H "Authorization: Bearer $admin_token" -H 'Content-Type: application/json' \
        -X "$1" ${3:+-d "$3"} "$http$2"
}
repositories=/apis/git.vedette.dev/v1/namespaces/default/repositories

# repository NAME [SPEC]: creates one; SPEC is JSON.
repository() {
    call POST $repositories "{\"apiVersion\":\"git.vedette.dev/v1\",\"kind\":\"Repository\",
        \"metadata\":{\"name\":\"$1\"},\"spec\":${2:-{\}}}" >repository.json
}

# condition NAME TYPE: its status.
condition() {
    call GET "$repositories/$1" |
        jq -r ".status.conditions[]? | select(.type == \"$2\").status"
}
condition_is() { [ "$(condition "$1" "$2")" = "$3" ]; }

# folder NAME: of the bare repository.
folder() { echo "$scratch/data/git/$(call GET "$repositories/$1" | jq -r .metadata.uid).git"; }

# fill NAME COMMITS: makes a work tree `work.NAME` with so many commits and puts it into the bare
# repository behind the server's back.
fill() {
    git init -q -b main "work.$1" || return 1
    fill_at=0
    while [ "$fill_at" -lt "$2" ]; do
        fill_at=$((fill_at + 1))
        echo "$fill_at" >"work.$1/file$fill_at.txt"
        git -C "work.$1" add . && git -C "work.$1" commit -q -m "c$fill_at" || return 1
    done
    until_true condition_is "$1" Ready True &&
        into_folder "$1" main
}

# into_folder NAME ARGUMENT...: a push of `work.NAME` past the server.
into_folder() {
    into_name=$1
    shift
    git -C "work.$into_name" push -q \
        --receive-pack 'git -c core.hooksPath=/dev/null receive-pack' "$(folder "$into_name")" "$@"
}

# metric NAME-WITH-LABELS: its value.
metric() { call GET /metrics | sed -n "s/^$1 //p"; }

# git_processes: those that the server runs.
git_processes() { cat /proc/"$pid"/task/*/children; }

# no_git_left: none is there any more.
no_git_left() { [ "$(metric vedette_git_processes)" = 0 ] && [ -z "$(git_processes)" ]; }
