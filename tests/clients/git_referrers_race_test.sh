#!/bin/sh
# A category is deleted by a push while somebody else creates one below it: the push looks for
# objects that refer to what it deletes, and whoever comes between that look and the commit counts,
# too. The push brings many objects, so that there is time between them.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/support/push.sh
. "$top/tests/support/push.sh"
command -v git >/dev/null || skip_all "no git here"
command -v jq >/dev/null || skip_all "no jq here"

MAPS=6000
api=/apis/catalog.gitstore.dev/v1beta1/namespaces/default/categorytaxonomies
repositories=/apis/git.vedette.dev/v1/namespaces/default/repositories

# call METHOD PATH [BODY]: the answer's body; fails when it is refused.
call() {
    curl -sS -f -m 60 -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
        -X "$1" ${3:+-d "$3"} "$http$2"
}

# category NAME METADATA SPEC
category() {
    printf '{"apiVersion":"catalog.gitstore.dev/v1beta1","kind":"CategoryTaxonomy",'
    printf '"metadata":{"name":"%s"%s},"spec":{"title":"%s"%s}}' "$1" "$2" "$1" "$3"
}

pushes() { push_folder work "http://x:$token@$http_door/default/catalog.git"; }

opens() {
    token=$("$vedette" token create --data data --user ann --groups system:masters)
    call POST "$repositories" '{"apiVersion":"git.vedette.dev/v1","kind":"Repository",
        "metadata":{"name":"catalog"}}' >repository.json || return 1
    mkdir work && category root '' '' >work/root.json && until_true pushes || return 1
    lock=data/git/$(jq -r .metadata.uid repository.json).git/refs/heads/main.lock
    seq $MAPS |
        sed 's/.*/{apiVersion: v1, kind: ConfigMap, metadata: {name: map-&}}\n---/' >maps.yaml
}

# begins: a push that deletes the category and changes the maps has locked its ref, and is about to
# be committed.
is_locked() { [ -e "$lock" ] || ! kill -0 "$push" 2>/dev/null; }
begins() {
    rm -f work/root.json
    sed "s/name: map/labels: {round: r$1}, name: map/" maps.yaml >work/maps.yaml
    pushes >push.out 2>&1 &
    push=$!
    until is_locked; do sleep 0.002; done
}

# between DELAY: a category below it, so many seconds behind that.
between() {
    begins "$1" && sleep "$1"
    call POST "$api" "$(category leaf ',"annotations":{"vedette.dev/override":"a race"}' \
        ',"parentRef":{"name":"root"}')" >leaf.json || return 1
    wait "$push"
    push_status=$?
    judges && goes_back
}

# judges: either the category stays, and the push was refused because of the other one; or it was
# deleted before the other one came.
judges() {
    leaf=$(jq -r .metadata.resourceVersion leaf.json)
    if call GET "$api/root" >root.json 2>/dev/null; then
        [ "$push_status" -ne 0 ] && grep 'CategoryTaxonomy leaf' push.out && return 0
    else
        last=$(call GET "$repositories/catalog" |
            jq -r .status.lastAdmission.lastResourceVersion)
        [ "$push_status" -eq 0 ] && [ "$leaf" -gt "$last" ] && return 0
        echo "leaf was created at $leaf, root was deleted at $last"
    fi
    cat push.out
    return 1
}

# goes_back: the next round begins as this one.
goes_back() {
    call DELETE "$api/leaf" >/dev/null && category root '' '' >work/root.json && pushes
}

tap "the server starts" start_server
tap "a repository with a category" opens
for delay in 0.02 0.05 0.2; do
    tap "a category that comes $delay s behind the lock" between $delay
done
tap_end
