#!/bin/sh
# Passes on what a starting server prints and, when it is ready, makes the demo: the Repository
# default/catalog with the files of examples/catalog as its first commit, pushed with git as anybody
# would. Then it prints the commands to try it with.
#
#   vedette serve | tools/demo.sh PROGRAM
#
# It works with the data folder that the server names. There git-credentials has the token that git
# needs, and the file `demo` says that the demo was made: whoever deletes the repository does not
# get it back, unless the file goes, too.
set -u
trap '' INT # Ctrl-C is for the server, and this ends when the server's output does
program=$1
top=$(cd "$(dirname "$0")/.." && pwd)

# quoted TEXT: in the shell's words; path TEXT: the same, as it is if the shell leaves it alone.
quoted() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }
path() {
    case $1 in
    *[!A-Za-z0-9/._-]*) quoted "$1" ;;
    *) printf '%s' "$1" ;;
    esac
}

# without_settings COMMAND...: runs git with no settings of this machine but the credentials.
without_settings() {
    GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_TERMINAL_PROMPT=0 \
        git -c credential.helper="store --file=$(path "$credentials")" \
        -c user.name=demo -c user.email=demo@localhost "$@"
}

# write_credentials: for this address, with the token of an earlier start or a new one.
write_credentials() {
    token=$(sed -n 's,^[a-z]*://admin:\([^@]*\)@.*,\1,p' "$credentials" 2>/dev/null | head -n 1)
    if [ -z "$token" ]; then
        token=$("$program" token create --data "$data" --user admin --groups system:masters \
            --description "git, for the demo repository") || return 1
    fi
    (umask 077 && echo "http://admin:$token@${http#http://}" >"$credentials")
}

# reach: the refs of the repository, if it is there.
reach() { refs=$(without_settings ls-remote -q "$url" 2>/dev/null); }

# create: the Repository, which can be cloned then.
create() {
    VEDETTE_TOKEN=$token "$program" repo create default/catalog --server "$http" >/dev/null
}

# push: the files of examples/catalog as the first commit.
push() {
    tree=$(mktemp -d) || return 1
    cp -R "$top/examples/catalog/." "$tree" &&
        without_settings -C "$tree" init -q -b main &&
        without_settings -C "$tree" add . &&
        without_settings -C "$tree" commit -q -m "a small shop" &&
        without_settings -C "$tree" push -q "$url" main
    pushed=$?
    rm -rf "$tree"
    return "$pushed"
}

# make_demo: what is missing of it. Fails with a message, or silently when it was deleted.
make_demo() {
    write_credentials || return 1
    if [ -e "$data/demo" ]; then
        reach
        return
    fi
    reach || { create && refs=; } || return 1
    if [ -z "$refs" ]; then push || return 1; fi
    : >"$data/demo"
}

show() {
    cat <<TEXT
A shop's catalogue is in the repository $url. To change it, paste:

  git clone -c credential.helper=$(quoted "store --file=$(path "$credentials")") $url
  cd catalog
  sed -i 's/^  title: .*/  title: A brighter lamp/' products/desk-lamp.md
  git commit -a -m 'a brighter lamp' && git push

and meanwhile, in another terminal:  kubectl get products -w

TEXT
}

# The server's words to people end with the first empty line behind their commands.
http='' data='' made='' commands=''
while IFS= read -r line; do
    printf '%s\n' "$line"
    case $line in
    ready\ *http://*) http=http://${line##*http://} ;;
    kubeconfig\ *)
        data=$(cd "$(dirname "${line#kubeconfig }")" && pwd)
        url=$http/default/catalog.git
        credentials=$data/git-credentials
        if [ -z "$http" ]; then
            : # git needs the plain listener here
        elif reason=$(make_demo 2>&1); then
            made=yes
        elif [ -n "$reason" ]; then
            printf 'could not make the demo repository: %s\n' "$reason" >&2
        fi
        ;;
    '  '*) commands=yes ;;
    '')
        if [ "$made$commands" = yesyes ]; then show && made=; fi
        ;;
    esac
done
