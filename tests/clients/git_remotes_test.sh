#!/bin/sh
# Remotes that are not kind: they break off, are larger than the disk, are slow, or want a password.
# Whatever they do, it does not harm anybody else, and nothing of it is left.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git_shop.sh
. "$here/git_shop.sh"

host_pid=
end_all() {
    for all_pid in $pid $host_pid; do
        kill -9 "$all_pid"
    done 2>/dev/null
    rm -rf "$scratch"
}
trap end_all EXIT

# remote NAME BYTES: a bare repository with a manifest of that name, and so much more.
remote() {
    git init -q --bare "remotes/$1.git" &&
        git -C "remotes/$1.git" symbolic-ref HEAD refs/heads/main &&
        git init -q "$1" && map "$1" >"$1/$1.yaml" && head -c "$2" /dev/urandom >"$1/large" &&
        tree=$1 && commit one && g push -q "../remotes/$1.git" HEAD:main
}

# follow NAMESPACE NAME PATH [MORE]
follow() {
    timeout 60 "$kubectl" -n "$1" apply -f - <<REPOSITORY
apiVersion: git.vedette.dev/v1
kind: Repository
metadata: {name: $2}
spec: {remote: {url: "$host/$3", branch: main, interval: 10s${4:+, $4}}}
REPOSITORY
}

tells() { field repository "$1" .status.lastError | grep -q -i -e "$2"; }
leaves_nothing() { is "" find data/git -name 'tmp_*'; }
fetches_failed() {
    curl -sS -m 20 -H "Authorization: Bearer $token" "$http/metrics" |
        sed -n 's/^vedette_git_fetches_total{result="failed"} //p'
}
failed_twice() { [ "$(fetches_failed)" -ge 2 ]; }

broken_off() {
    remote cut 3000000 && follow shop cut cut/cut.git && until_true failed_twice &&
        until_true tells cut . && until_true leaves_nothing && k delete repository cut
}
whole() {
    follow shop whole plain/cut.git && until_true k get configmap cut && leaves_nothing &&
        is 1 sh -c 'find data/git -name "pack-*.pack" | wc -l'
}

locked() {
    k create secret generic login --from-literal=token=nonsense &&
        follow shop open locked/x.git && until_true tells open 'set spec.remote.secretRef' &&
        follow shop shut locked/x.git 'secretRef: {name: login}' &&
        until_true tells shut 'refused the credentials of Secret login' &&
        k delete repository open shut --timeout=50s
}

# Slow remotes of one namespace have a part of the slots; they give way to each other.
slow() {
    remote good 10 && k create namespace other && k create namespace slow || return 1
    for i in 1 2 3 4 5 6 7 8 9; do
        follow slow "s$i" "drip/$i.git" || return 1
    done
    until_true dripping && follow other good plain/good.git && until_true came_to other
}
dripping() { [ "$(pgrep -P "$pid" -f 'fetch.*drip' | wc -l)" -ge 2 ]; }
came_to() { timeout 60 "$kubectl" -n "$1" get configmap good; }
slow_gives_way() {
    timeout 60 "$kubectl" -n slow delete repository s3 s4 s5 s6 s7 s8 s9 --timeout=50s &&
        follow slow good plain/good.git && until_true came_to slow && shows 'gave way' gave_way &&
        k delete namespace slow --timeout=50s
}
gave_way() { grep 'gave way' err; }

tap "a host of remotes" start_host
tap "the server starts" start_server
tap "a namespace and a token" open_shop
tap "a fetch that breaks off leaves nothing" broken_off
tap "a whole one comes as one pack" whole
tap "a remote that wants a password" locked
tap "slow remotes of a namespace do not hold up another one" slow
tap "they give way to a good one of their own" slow_gives_way
tap_end
