#!/bin/sh
# vedette repo without a server: mistakes, and the credential helper.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
vedette=$(cd "$build" && pwd)/vedette
cd "$scratch" || exit 1
HOME=$scratch
export HOME
unset KUBECONFIG VEDETTE_TOKEN VEDETTE_DATA 2>/dev/null

# says STATUS TEXT COMMAND...: this exit status, the text on stderr, and nothing on stdout.
says() {
    says_status=$1 says_text=$2
    shift 2
    "$@" >out 2>err </dev/null
    says_got=$?
    [ "$says_got" -eq "$says_status" ] && grep -q -F -e "$says_text" err && [ ! -s out ] && return 0
    echo "status $says_got, wanted $says_status and: $says_text"
    cat out err
    return 1
}

for command in create status log reset; do
    tap "$command: no name" says 2 'NAMESPACE/NAME is missing' "$vedette" repo $command
    for word in catalog /catalog shop/ shop/a/b Shop/catalog 'shop/../x'; do
        tap "$command: $word is none" says 2 "'$word' is no repository: write NAMESPACE/NAME" \
            "$vedette" repo $command "$word"
    done
done
tap "no kubeconfig" says 1 'there is no vedette-data/admin.kubeconfig: name a kubeconfig' \
    "$vedette" repo list
tap "another data folder" says 1 'there is no elsewhere/admin.kubeconfig' "$vedette" repo list \
    --data elsewhere
tap "a named one" says 1 'there is no mine: name a kubeconfig with --kubeconfig' "$vedette" \
    repo list --kubeconfig mine
tap "a token without a server" says 2 "go with '--server'" "$vedette" repo list --token-file x
tap "no server there" says 1 'no server answers at http://127.0.0.1:1' "$vedette" repo list \
    --server http://127.0.0.1:1
tap "no URL" says 2 'is no URL of http or https' "$vedette" repo list --server ftp://x
echo 'a: [' >broken
tap "a broken kubeconfig is named" says 2 "$scratch/broken: line 2" "$vedette" repo list \
    --kubeconfig broken
tap "create: an option of remotes" says 2 "go with '--remote'" "$vedette" repo create a/b \
    --interval 5m
tap "create: a choice" says 2 "wants private, internal or public, not 'all'" "$vedette" repo \
    create a/b --visibility all
tap "list: both" says 2 'exclude each other' "$vedette" repo list --namespace a --all-namespaces
tap "adopt: nothing is named" says 2 'say which objects: NAME...' "$vedette" repo adopt a/b cm
tap "adopt: two ways" says 2 'one of these only' "$vedette" repo adopt a/b cm x --all
tap "adopt: a path outside" says 2 'a folder inside the repository' "$vedette" repo adopt a/b cm x \
    --path ../y
tap "adopt: git's own folder" says 2 'a folder inside the repository' "$vedette" repo adopt a/b cm \
    x --path a/.git

# ---- the credential helper ----

# config USER: a kubeconfig whose user is this.
config() {
    cat <<CONFIG
apiVersion: v1
kind: Config
current-context: here
contexts:
- name: other
  context: {cluster: other, user: other}
- name: here
  context: {cluster: c, user: u}
clusters:
- name: other
  cluster: {server: "https://other.example:1"}
- name: c
  cluster: {server: "http://127.0.0.1:1"}
users:
- name: other
  user: {token: wrong}
- name: u
  user: {$1}
CONFIG
}
config 'token: secret1' >token.config
mkdir folder
config 'tokenFile: token' >folder/file.config
echo secret2 >folder/token
config 'token: "two words"' >words.config
config 'client-certificate: x' >missing.config
config '' >none.config

# answers PASSWORD ARGUMENT...: to what git asks.
answers() {
    answers_want=$1
    shift
    printf 'protocol=http\nhost=127.0.0.1:1\npath=a/b.git\n\nnot read' |
        "$vedette" repo credential "$@" >out 2>err
    printf 'username=vedette\npassword=%s\n' "$answers_want" | cmp - out && [ ! -s err ] && return 0
    cat out err
    return 1
}
tap "a token" answers secret1 --kubeconfig token.config get
tap "git puts the operation last" answers secret1 get --kubeconfig token.config
tap "a file with one" answers secret2 get --kubeconfig folder/file.config
tap "one of the command line" answers secret2 get --server http://127.0.0.1:1 \
    --token-file folder/token
# idle OPERATION: it says nothing, and reads no kubeconfig.
idle() {
    "$vedette" repo credential "$1" --kubeconfig nowhere </dev/null >out 2>err &&
        [ ! -s out ] && [ ! -s err ]
}
for operation in store erase; do
    tap "$operation does nothing" idle $operation
done
tap "so does one that git has in a hundred years" idle approve
# git_asks: git fills in the token of the server, and none of another one.
git_asks() {
    helper="!'$vedette' repo credential --kubeconfig '$scratch/token.config'"
    printf 'protocol=http\nhost=%s\n\n' 127.0.0.1:1 |
        GIT_TERMINAL_PROMPT=0 git -c credential.helper= -c credential.helper="$helper" \
            credential fill >out 2>err && grep -qx password=secret1 out || return 1
    ! printf 'protocol=http\nhost=%s\n\n' 127.0.0.1:2 |
        GIT_TERMINAL_PROMPT=0 git -c credential.helper= -c credential.helper="$helper" \
            credential fill >out 2>err && ! grep -q secret1 out
}
# quiet PROTOCOL HOST ARGUMENT...: there is no answer for another server, and no complaint.
quiet() {
    quiet_protocol=$1 quiet_host=$2
    shift 2
    printf "%s%s\n" "$quiet_protocol" "$quiet_host" |
        "$vedette" repo credential get "$@" >out 2>err && [ ! -s out ] && [ ! -s err ] && return 0
    cat out err
    return 1
}
http='protocol=http
' https='protocol=https
' host='host=127.0.0.1:1
'
tap "no token for another host" quiet "$http" 'host=evil.example:1
' --kubeconfig token.config
tap "nor for one that begins like the server's" quiet "$http" 'host=127.0.0.1:1.evil.example
' --kubeconfig token.config
tap "nor for another port" quiet "$http" 'host=127.0.0.1:2
' --kubeconfig token.config
tap "nor for http's own port" quiet "$http" 'host=127.0.0.1
' --kubeconfig token.config
tap "nor for https where the server has http" quiet "$https" "$host" --kubeconfig token.config
tap "nor for http where the server has https" quiet "$http" "$host" --server https://127.0.0.1:1 \
    --token-file folder/token
tap "nor without a host" quiet "$http" '' --kubeconfig token.config
tap "nor without a protocol" quiet '' "$host" --kubeconfig token.config
tap "nor for nothing" quiet '' '' --kubeconfig token.config
tap "nor for a host with a path" quiet "$http" 'host=127.0.0.1:1/x
' --kubeconfig token.config
tap "nor for a host inside of a long line" quiet "$http" "$(printf 'path=%04090d' 0)$host
" --kubeconfig token.config
# its_own_port: https without a port is 443, in the question and in the server's URL.
its_own_port() {
    printf 'protocol=https\nhost=Vedette.Example\n\n' | "$vedette" repo credential get \
        --server https://vedette.example:443 --token-file folder/token | grep -qx password=secret2
}
tap "the protocol's own port" its_own_port
tap "git itself asks so" git_asks
printf 'protocol=http\nhost=127.0.0.1:1\n\n' >question
# asked COMMAND...: it is asked for the token of the server.
asked() {
    "$@" <question
}
tap "no token" says 1 'has no token, which git needs as a password: make a kubeconfig' asked \
    "$vedette" repo credential get --kubeconfig none.config
tap "no token on the command line" says 1 'name a file with --token-file' asked "$vedette" \
    repo credential get --server http://127.0.0.1:1
tap "two words are none" says 2 'the token is not one word' "$vedette" repo credential get \
    --kubeconfig words.config
tap "a file that is not there" says 1 "$scratch/x" "$vedette" repo credential get \
    --kubeconfig missing.config
tap_end
