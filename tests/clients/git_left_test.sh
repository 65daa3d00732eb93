#!/bin/sh
# Clients that leave in the middle of a push: it has happened whole or not at all, the server has no
# process of it left, and the next push happens.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git_shop.sh
. "$here/git_shop.sh"

tree=catalog

write() {
    for i in 1 2 3; do map "m$i" "$1" >"catalog/m$i.yaml"; done
    commit "change $1"
}

# whole: all objects are of one change, the one that the ref names.
whole() {
    whole_at=$(git ls-remote "$(url catalog)" refs/heads/main | cut -f 1)
    whole_x=$(git -C catalog show "$whole_at:m1.yaml" | sed -n 's/.*x: "\(.*\)"/\1/p')
    is "$whole_x $whole_x $whole_x" sh -c "timeout 60 '$kubectl' -n shop get cm m1 m2 m3 \
        -o 'jsonpath={.items[*].data.x}'" && agree catalog main
}

# no_git: no process of git works for the server.
no_git() { [ -z "$(cat /proc/"$pid"/task/*/children)" ]; }

# leave AFTER: a client that is killed after so many seconds.
leave() {
    write "$n" || return 1
    n=$((n + 1))
    timeout -s KILL "$1" git -C catalog push -q --force origin main >/dev/null 2>&1
    until_true no_git && until_true whole
}

leave_often() {
    for after in 01 02 04 06 08 10 13 16 20 25; do
        leave "0.$after" || {
            echo "after 0.$after s"
            return 1
        }
    done
}

go_on() {
    write "$n"
    push --force origin main && whole
}

start_server >/dev/null
open_shop >/dev/null
repository catalog "" >/dev/null 2>&1
n=1
write 0
tap "a push is admitted" push origin main
tap "clients leave at any moment" leave_often
tap "the next push happens" go_on
tap_end
