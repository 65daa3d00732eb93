# shellcheck shell=sh disable=SC2034,SC2154 # names shared with client.sh and the tests
# Sourced by the tests that push with the real git client, after client.sh: git without anybody's
# settings, a token, and a work tree for each repository.
# shellcheck source=tests/clients/kubectls.sh
. "$here/kubectls.sh"

kubectl=$(found | head -n 1)
[ -n "$kubectl" ] || kubectl=$(debian)
[ -n "$kubectl" ] || skip_all "there is no kubectl"
command -v git >/dev/null || skip_all "there is no git"

GIT_CONFIG_NOSYSTEM=1
GIT_TERMINAL_PROMPT=0
GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=ann@example.com
GIT_COMMITTER_NAME=Ann GIT_COMMITTER_EMAIL=ann@example.com
export GIT_CONFIG_NOSYSTEM GIT_TERMINAL_PROMPT
export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL

# k ARGUMENT...: kubectl in the namespace shop, with an end.
k() { timeout 60 "$kubectl" -n shop "$@"; }

# open_shop: a token of an administrator in $token, and the namespace.
open_shop() {
    token=$("$vedette" token create --data data --user ann --groups system:masters) &&
        k create namespace shop
}

# url REPOSITORY [TOKEN]
url() { echo "http://ann:${2:-$token}@$http_door/shop/$1.git"; }

# repository NAME SPEC: a Repository and its clone, in the folder of its name.
repository() {
    k apply -f - <<REPOSITORY && timeout 60 git clone -q "$(url "$1")" "$1"
apiVersion: git.vedette.dev/v1
kind: Repository
metadata: {name: $1}
spec: {$2}
REPOSITORY
}

# g ARGUMENT...: git in the work tree $tree, with an end.
g() { timeout 120 git -C "$tree" "$@"; }

# commit MESSAGE: all that the work tree has.
commit() { g add -A && g commit -q -m "$1"; }

# push ARGUMENT...: what the server says, without git's padding.
push() {
    g push "$@" >push.out 2>&1
    push_status=$?
    sed 's/ *$//' push.out
    return "$push_status"
}

# change: commits everything and pushes it to main.
change() { commit "a change" && push origin HEAD:main; }

# map NAME [TEXT]: the manifest of a ConfigMap.
map() {
    cat <<MAP
apiVersion: v1
kind: ConfigMap
metadata:
  name: $1
data:
  x: "${2:-1}"
MAP
}

# field RESOURCE NAME PATH...: fields of an object, with spaces between them.
field() {
    field_what=$1/$2
    shift 2
    k get "$field_what" -o "jsonpath=$(printf '{%s} ' "$@" | sed 's/ $//')"
}

# is WANTED COMMAND...: prints exactly this.
is() {
    is_wanted=$1
    shift
    is_got=$("$@" 2>&1)
    [ "$is_got" = "$is_wanted" ] && return 0
    echo "got: $is_got"
    echo "wanted: $is_wanted"
    return 1
}

# absent RESOURCE NAME
absent() { refuses "not found" k get "$1" "$2"; }

# agree REPOSITORY BRANCH: the ref is what the status records.
agree() {
    agree_ref=$(git ls-remote "$(url "$1")" "refs/heads/$2" | cut -f 1)
    is "$agree_ref" field repository "$1" ".status.branches[?(@.name==\"$2\")].commit"
}

# start_host: a git server for the repositories in remotes/, at $host; the test ends $host_pid.
start_host() {
    mkdir remotes
    node "$here/git_backend.mjs" remotes >host.port &
    host_pid=$!
    until_true grep -q . host.port && host=http://127.0.0.1:$(cat host.port)
}
