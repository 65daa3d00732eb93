#!/bin/sh
# `vedette token` as people and scripts meet it.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
vedette=$(cd "$build" && pwd)/vedette
cd "$scratch" || exit 1
mkdir data

# says STATUS TEXT COMMAND...: this exit status, and one line on stderr with the text.
says() {
    says_status=$1
    says_text=$2
    shift 2
    "$@" >out 2>err
    says_got=$?
    [ "$says_got" -eq "$says_status" ] && grep -q -F -e "$says_text" err &&
        [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] && return 0
    echo "status $says_got: $*"
    cat out err
    return 1
}

# shows TEXT COMMAND...: exit status 0, the text on stdout, nothing on stderr.
shows() {
    shows_text=$1
    shift
    "$@" >out 2>err && grep -q -F -e "$shows_text" out && [ ! -s err ] && return 0
    cat out err
    return 1
}

creates() {
    "$vedette" token create --data data --user ann --groups dev,system:masters \
        --description "a laptop" --expires 30d >made || return 1
    [ "$(wc -l <made)" -eq 1 ] && grep -q -x 'vd_[A-Za-z0-9_-]\{43\}' made
}
tap "create prints the token and nothing else" creates
kept() { [ "$(stat -c %a data/tokens)" = 600 ] && ! grep -q -F "$(cut -c 4- made)" data/tokens; }
tap "the token itself is kept nowhere" kept
tap "create as JSON" shows '"user":"bob","token":"vd_' \
    "$vedette" token create --data data --user bob --output json
id=$(sed 's/.*"id":"\([0-9a-f]*\)".*/\1/' out)

lists() {
    "$vedette" token list --data data >out || return 1
    [ "$(wc -l <out)" -eq 3 ] && grep -q '^ID  *USER  *GROUPS  *EXPIRES  *DESCRIPTION$' out &&
        grep -q 'ann  *dev,system:masters  *20[0-9T:-]*Z  *a laptop$' out &&
        grep -q "^$id  bob  *-  *never  *-$" out && ! grep -q vd_ out
}
tap "list shows whose they are" lists
tap "list as JSON" shows "{\"tokens\":[{\"id\":\"" "$vedette" token list --data data --output json
tap "revoke" shows "revoked $id" "$vedette" token revoke --data data --id "$id"
tap "revoke twice" says 1 "there is no token $id: 'vedette token list' shows their ids" \
    "$vedette" token revoke --data data --id "$id"
gone() { ! "$vedette" token list --data data | grep -q bob; }
tap "a revoked token is gone" gone

tap "a missing folder" says 1 "there is no data folder nowhere" \
    "$vedette" token list --data nowhere
tap "a user is needed" says 2 "'--user NAME' is missing" "$vedette" token create --data data
tap "an empty group" says 1 "a group of the token must be" \
    "$vedette" token create --data data --user a --groups a,,b
tap "nobody has no token" says 1 \
    "--user system:anonymous is whoever has no credential: give another name" \
    "$vedette" token create --data data --user system:anonymous
tap "a ServiceAccount has its own" says 1 \
    "--user system:serviceaccount:a:b is a ServiceAccount: make its token with 'kubectl create" \
    "$vedette" token create --data data --user system:serviceaccount:a:b
tap "a token is no stranger's" says 1 \
    "--groups system:unauthenticated is for whoever has no credential: leave it out" \
    "$vedette" token create --data data --user a --groups dev,system:unauthenticated
for group in system:serviceaccounts system:serviceaccounts:kube-system; do
    tap "nor one of $group" says 1 "--groups $group is for ServiceAccounts: leave it out" \
        "$vedette" token create --data data --user a --groups $group
done
tap "other names of the system are good" shows vd_ "$vedette" token create --data data \
    --user system:serviceaccounter --groups system:serviceaccountsx,system:nodes
tap "no time at all" says 2 "'--expires' wants more than no time" \
    "$vedette" token create --data data --user a --expires 0s
echo rubbish >data/tokens
tap "a damaged file" says 1 "line 1 of data/tokens is no token" "$vedette" token list --data data

# The manual names every option that the help does.
manual_is_complete() {
    sed 's/\\-/-/g' "$top/docs/man/vedette-token.1" >manual
    for command in create list revoke; do
        grep -q -F "vedette token $command" manual || return 1
        for option in $("$vedette" token $command --help | grep -o -e '^  --[a-z-]*' |
            grep -v -e --help); do
            grep -q -F -e "$option" manual || { echo "$option"; return 1; }
        done
    done
}
tap "the manual names every option" manual_is_complete
tap_end
