#!/bin/sh
# The signals and the ways out of docs/runbooks/git-admission.md: metrics, conditions, lines of the
# log, and what mends a repository.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git_shop.sh
. "$here/git_shop.sh"

tree=catalog

# metric NAME-WITH-LABELS: its value.
metric() { k get --raw /metrics | sed -n "s/^$1 //p"; }
pushes() { metric "vedette_git_pushes_total{result=\"$1\"}"; }

# reason TYPE: of a condition of the repository, with its status.
reason() {
    k get repository catalog \
        -o "jsonpath={range .status.conditions[?(@.type=='$1')]}{.status} {.reason}{end}"
}
reason_is() { [ "$(reason "$1")" = "$2" ]; }

admitted() {
    map one >catalog/one.yaml
    change && is 1 pushes admitted && reason_is Ready "True Served" &&
        reason_is Synced "True RefsAgree" &&
        is 1 metric 'vedette_git_admitted_resources_total{change="created"}'
}

refused() {
    echo 'kind: ConfigMap' >catalog/wrong.yaml
    change && return 1
    is 1 pushes refused && g reset -q --hard origin/main
}

stale() {
    git clone -q "$(url catalog)" second && map two >second/two.yaml && git -C second add . &&
        git -C second commit -q -m two && git -C second push -q || return 1
    map three >catalog/three.yaml
    refuses 'fetch first' change && g pull -q --rebase && push
}

steps() {
    shows '^vedette_git_push_step_seconds_count\{step="validation"\} [1-9]' k get --raw /metrics &&
        shows '^vedette_git_push_step_seconds_count\{step="admission"\} [1-9]' k get --raw /metrics
}

bare() { echo "$scratch/data/git/$(field repository catalog .metadata.uid).git"; }

# A ref that somebody has moved is set back by the next start, and the log says so.
moved_ref() {
    git -C "$(bare)" update-ref refs/heads/main "$(g rev-parse HEAD~1)"
    kill_server
    start_server && until_true agree catalog main &&
        is 1 metric vedette_git_recovered_refs_total &&
        grep -q 'refs are set to what the store records' err
}

# The folder is gone: the objects stay, and the condition tells.
lost_folder() {
    where=$(bare)
    kill_server
    rm -rf "$where"
    start_server && until_true reason_is Synced "False ContentsLost" &&
        reason_is Ready "True Served" && k get configmap one two three
}
# A clone brings the history back, also over a restart in between. One that is ahead is told which
# commit comes first, and another history is refused.
mended() {
    recorded=$(g rev-parse HEAD) && before=$(k get configmap -o yaml) || return 1
    kill_server
    start_server && until_true reason_is Synced "False ContentsLost" &&
        shows "git push origin $recorded:refs/heads/main" k get repository catalog \
            -o "jsonpath={.status.conditions[?(@.type=='Synced')].message}" &&
        map four >catalog/four.yaml && commit four &&
        refuses "git push origin $recorded:refs/heads/main" push origin HEAD:main &&
        refuses "which the repository does not have" push --force origin HEAD~2:refs/heads/main &&
        shows "no resources changed" push origin "$recorded:refs/heads/main" || return 1
    is "$before" k get configmap -o yaml && until_true reason_is Synced "True RefsAgree" &&
        agree catalog main && push origin HEAD:main && agree catalog main &&
        rm -rf again && git clone -q "$(url catalog)" again && git -C again fsck --full
}

# Something else stands where the folder should be.
no_folder() {
    where=$(bare)
    kill_server
    mv "$where" kept.git && : >"$where" && start_server || return 1
    until_true reason_is Ready "False FolderFailed" || return 1
    kill_server
    rm "$where" && mv kept.git "$where" && start_server && until_true reason_is Ready "True Served"
}

no_git() {
    kill_server
    mkdir empty
    : >out
    PATH=$scratch/empty "$vedette" serve --data data --listen "$http_door" \
        --tls-listen "$https_door" >out 2>>err &
    pid=$!
    until_true is_up && until_true reason_is Ready "False NoGit" &&
        grep -q 'Git repositories are not served' err
}

tap "a server" start_server
tap "a namespace and a token" open_shop
tap "a repository is cloned" repository catalog ""
tap "a push that is admitted is counted" admitted
tap "one that is refused is counted" refused
tap "one that came too late may fetch and push again" stale
tap "the steps of pushes are timed" steps
tap "a ref that was moved is set back at the next start" moved_ref
tap "a folder that was lost is told" lost_folder
tap "and a push from a clone mends it" mended
tap "a folder that cannot be used is told" no_folder
tap "so is a server without git" no_git
tap_end
