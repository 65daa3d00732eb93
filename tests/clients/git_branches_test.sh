#!/bin/sh
# Branches, tags, rewritten histories and several repositories: whose objects are whose.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git_shop.sh
. "$here/git_shop.sh"

tree=catalog

first() {
    map one >catalog/one.yaml
    map two >catalog/two.yaml
    change
}

not_admitted() {
    g checkout -q -b draft
    map draft >catalog/draft.yaml
    commit draft && push origin draft >draft.out 2>&1 && cat draft.out &&
        grep -q 'remote: branch draft is not admitted, so no objects change: spec.branches of' \
            draft.out && absent configmap draft && g checkout -q main
}

tags() {
    g tag v1 && g tag -a v2 -m two && push origin v1 v2 &&
        is "$(field repository catalog .metadata.resourceVersion)" \
            field repository catalog .metadata.resourceVersion &&
        git ls-remote "$(url catalog)" | grep -q refs/tags/v2 && push origin :v1 &&
        ! git ls-remote "$(url catalog)" | grep -q refs/tags/v1
}

# The objects of the rewritten commit are those of the new one.
force() {
    uid=$(field configmap one .metadata.uid)
    map three >catalog/three.yaml
    change || return 1
    g reset -q --hard HEAD~1
    map one changed >catalog/one.yaml
    commit other && refuses 'fetch first' push origin main || refuses rejected push origin main ||
        return 1
    push --force origin main && absent configmap three && is changed field configmap one .data.x &&
        is "$uid" field configmap one .metadata.uid && agree catalog main
}

rewind() {
    g reset -q --hard HEAD~1
    push --force origin main && is 1 field configmap one .data.x && agree catalog main
}

second_branch() {
    g checkout -q --orphan release/1 && g rm -qrf . && map rel >catalog/rel.yaml &&
        commit release && push origin release/1 && is 1 field configmap rel .data.x &&
        is release/1 field configmap rel '.metadata.annotations.vedette\.dev/git-branch' &&
        agree catalog release/1
}

first_keeps() {
    map one stolen >catalog/one.yaml
    commit steal &&
        refuses 'one.yaml:4:3: metadata.name: the object belongs to branch main, which has' \
            push origin release/1 && is 1 field configmap one .data.x && g reset -q --hard HEAD~1
}

delete_branch() {
    push origin :release/1 && absent configmap rel && is 1 field configmap one .data.x &&
        is "" field repository catalog '.status.branches[?(@.name=="release/1")].commit'
}

create_again() {
    push origin release/1 && is 1 field configmap rel .data.x && agree catalog release/1
}

# A branch that is renamed in one push hands its objects over: they are the same ones.
rename_branch() {
    uid=$(field configmap rel .metadata.uid)
    push origin release/1:release/2 :release/1 && is "$uid" field configmap rel .metadata.uid &&
        is release/2 field configmap rel '.metadata.annotations.vedette\.dev/git-branch'
}

merge() {
    g checkout -q main && g checkout -q -b side && map side >catalog/side.yaml && commit side &&
        g checkout -q main && map main >catalog/main.yaml && commit main &&
        g merge -q --no-ff -m merge side && push origin main >said &&
        grep -q 'admitted 2 resources' said && is 1 field configmap side .data.x
}

two_branches_at_once() {
    map both >catalog/both.yaml
    commit both && g branch -f both && g push origin main >/dev/null 2>&1
    g checkout -q -B release/3 && g rm -qrf . && map three >catalog/three.yaml && commit three &&
        g checkout -q main && map four >catalog/four.yaml && commit four &&
        push origin main release/3 >said && grep -q 'admitted 2 resources' said &&
        agree catalog main && agree catalog release/3
}

one_of_two_is_wrong() {
    map five >catalog/five.yaml
    commit five && g checkout -q release/3 && echo 'kind: [' >catalog/wrong.yaml && commit wrong &&
        refuses 'remote: wrong.yaml:' push origin main release/3 && absent configmap five &&
        agree catalog main && agree catalog release/3 && g reset -q --hard HEAD~1 &&
        g checkout -q main && push origin main
}

another_repository() {
    repository other "" || return 1
    map one theirs >other/one.yaml
    tree=other
    commit one &&
        refuses 'one.yaml:4:3: metadata.name: the object belongs to repository shop/catalog' \
            push origin main
    status=$?
    tree=catalog
    return "$status"
}

no_longer_admitted() {
    k patch repository catalog --type=merge -p '{"spec":{"branches":["main"]}}' || return 1
    g checkout -q release/3 && map late >catalog/late.yaml && commit late &&
        refuses 'remote: branch release/3 is not admitted any more' push origin release/3 &&
        push origin :release/3 && absent configmap three && g checkout -q main
}

admitted_later() {
    k patch repository catalog --type=merge -p '{"spec":{"branches":["main","draft"]}}' &&
        absent configmap draft && g checkout -q draft && g rm -q one.yaml two.yaml &&
        echo more >catalog/README && commit more && push origin draft &&
        is 1 field configmap draft .data.x && agree catalog draft && g checkout -q main
}

# Git takes these names. Branches that are not admitted may have them.
odd_names() {
    long=$(printf '%0201d' 0)
    push origin "HEAD:refs/heads/$long" "HEAD:refs/heads/-x" &&
        push origin ":refs/heads/$long" ":refs/heads/-x" &&
        k patch repository catalog --type=merge -p '{"spec":{"branches":["main","draft","*"]}}' &&
        refuses 'the name has 201 bytes' push origin "HEAD:refs/heads/$long" &&
        refuses 'cannot be that of a branch' push origin HEAD:refs/heads/-x &&
        refuses 'cannot be that of a branch' push origin "HEAD:refs/heads/$(printf 'f\374')" &&
        g checkout -q --orphan empty && g rm -qrf . && echo x >catalog/x && commit empty &&
        push origin "HEAD:refs/heads/${long%0}" && agree catalog "${long%0}" &&
        push origin ":refs/heads/${long%0}" && g checkout -q main
}

delete_default() {
    push origin :main && absent configmap one && is 1 field configmap draft .data.x
}

start_server >/dev/null
open_shop >/dev/null
repository catalog 'branches: [main, "release/*"]' >/dev/null 2>&1
tap "a branch is admitted" first
tap "a branch that is not admitted is only kept" not_admitted
tap "tags are only kept" tags
tap "a forced push: the objects of the new commit" force
tap "a rewound branch" rewind
tap "a second branch" second_branch
tap "of two branches the first keeps an object" first_keeps
tap "a deleted branch takes its objects along" delete_branch
tap "and brings them back" create_again
tap "a renamed branch hands its objects over" rename_branch
tap "a merge" merge
tap "two branches in one push" two_branches_at_once
tap "of which one is wrong: neither is moved" one_of_two_is_wrong
tap "of two repositories the first keeps an object" another_repository
tap "a branch that is not admitted any more" no_longer_admitted
tap "a branch that is admitted later" admitted_later
tap "names that the status cannot record" odd_names
tap "the default branch is deleted" delete_default
tap_end
