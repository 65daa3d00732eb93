#!/bin/sh
# Drift and reset: an override shows in the status of the Repository and in a metric, and a reset
# writes all objects again as Git has them.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git_shop.sh
. "$here/git_shop.sh"

tree=catalog

first_push() {
    map one >catalog/one.yaml
    map two >catalog/two.yaml
    map three >catalog/three.yaml
    change >said && is 3 field repository catalog .status.resources
}

override() {
    k patch configmap "$1" --type merge -p \
        "{\"metadata\":{\"annotations\":{\"vedette.dev/override\":\"$2\"}},\"data\":{\"x\":\"$2\"}}"
}

drifted_is() { [ "$(condition Drifted)" = "$1" ]; }
condition() { field repository catalog ".status.conditions[?(@.type==\"$1\")].status"; }
names() { field repository catalog '.status.drift[*].name'; }
names_are() { [ "$(names)" = "$1" ]; }
metric_is() {
    curl -sS -m 20 -H "Authorization: Bearer $token" "$http/metrics" |
        grep -qx "vedette_git_drifted_objects $1"
}

# reset TEXT: and waits until it is recorded.
reset() {
    k annotate --overwrite repository catalog "vedette.dev/reset=$1" && until_true reset_is "$1"
}
reset_is() { [ "$(field repository catalog .status.lastReset)" = "$1" ]; }

no_drift_at_first() { is "" condition Drifted && metric_is 0; }

named() {
    override one fire && override two flood && until_true names_are "one two" &&
        until_true drifted_is True && until_true metric_is 2 &&
        is "configmaps shop admin" field repository catalog '.status.drift[0].resource' \
            '.status.drift[0].namespace' '.status.drift[0].user' &&
        is fire field configmap one .data.x
}

# Git writes one of them again.
push_agrees() {
    map one 7 >catalog/one.yaml
    change >said && until_true names_are two && is 7 field configmap one .data.x
}

known_after_restart() {
    kill_server
    start_server && until_true names_are two && until_true metric_is 1 &&
        is admin field repository catalog '.status.drift[0].user'
}

undone() {
    override three gone && k delete configmap three && until_true absent configmap three &&
        uid=$(field configmap two .metadata.uid) && reset 1 &&
        until_true drifted_is False && until_true names_are "" && until_true metric_is 0 &&
        is 1 field configmap two .data.x && is 1 field configmap three .data.x &&
        is "" field configmap two '.metadata.annotations.vedette\.dev/override' &&
        is "$uid" field configmap two .metadata.uid &&
        is 3 field repository catalog .status.resources &&
        is system:vedette:git field repository catalog .status.lastAdmission.user &&
        agree catalog main
}

# What is as Git has it makes no event.
nothing_to_do() {
    versions=$(field configmap one .metadata.resourceVersion)
    reset 2 && is "$versions" field configmap one .metadata.resourceVersion &&
        is "0 0 0 3" field repository catalog .status.lastAdmission.created \
            .status.lastAdmission.updated .status.lastAdmission.deleted \
            .status.lastAdmission.unchanged
}

# A reset that cannot be done says why, and is done when it can be.
failing() {
    override two again && override three again && k delete configmap three &&
        until_true absent configmap three && k create configmap three &&
        k annotate --overwrite repository catalog vedette.dev/reset=3 &&
        until_true error_tells && is again field configmap two .data.x &&
        k delete configmap three && until_true reset_is 3 && is 1 field configmap two .data.x &&
        is "" field repository catalog .status.lastError
}
error_tells() {
    field repository catalog .status.lastError | grep -q 'three.yaml.*belongs to the API'
}

without_commits() {
    repository empty '' 2>/dev/null
    k annotate repository empty vedette.dev/reset=now && until_true empty_is_reset
}
empty_is_reset() { [ "$(field repository empty .status.lastReset)" = now ]; }

by_command() {
    override one again && until_true names_are one &&
        timeout 60 "$vedette" repo reset shop/catalog && is 7 field configmap one .data.x &&
        until_true names_are ""
}

while_killed() {
    override one again && until_true names_are one || return 1
    k annotate --overwrite repository catalog vedette.dev/reset=4
    kill_server
    start_server && until_true reset_is 4 && is 7 field configmap one .data.x &&
        until_true names_are "" && agree catalog main
}

tap "the server starts" start_server
tap "a namespace and a token" open_shop
tap "a repository" repository catalog ''
tap "a push brings three objects" first_push
tap "nothing has drifted at first" no_drift_at_first
tap "overridden objects are named, with who has done it" named
tap "a push that writes one of them ends its drift" push_agrees
tap "a restarted server knows what has drifted" known_after_restart
tap "a reset undoes overrides and deletions, once" undone
tap "a reset without anything to do makes no event of an object" nothing_to_do
tap "a reset that cannot be done says why, and is done when it can be" failing
tap "a repository without commits is reset at once" without_commits
tap "vedette repo reset" by_command
tap "a server that is killed resets after its start" while_killed
tap_end
