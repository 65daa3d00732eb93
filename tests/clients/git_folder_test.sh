#!/bin/sh
# The folder of a hosted repository: what killed pushes leave in it goes, nobody pushes past the
# server, and old packs and objects are tidied up.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git_shop.sh
. "$here/git_shop.sh"

tree=catalog
sender=

bare() { echo "$scratch/data/git/$(field repository catalog .metadata.uid).git"; }
metric() { k get --raw /metrics | sed -n "s/^$1 //p"; }
metric_is() { [ "$(metric "$1")" = "$2" ]; }

# ---- pushes past the server ----

direct() {
    map one >catalog/one.yaml
    commit one
    refuses "push to the server's URL, not into its folder" g push "$where" HEAD:main &&
        refuses "push to the server's URL, not into its folder" g push "file://$where" HEAD:other &&
        push origin HEAD:main && agree catalog main
}

# A folder that was made before the server's settings were in it.
older() {
    kill_server
    git config -f "$where/config" --unset core.hooksPath &&
        git config -f "$where/config" uploadpack.allowTagInWant true && start_server || return 1
    until_true agree catalog main &&
        refuses "push to the server's URL, not into its folder" g push "$where" HEAD:other &&
        is true git config -f "$where/config" uploadpack.allowTagInWant
}

# ---- pushes that are killed ----

# begin_push: the beginning of a push, whose end does not come while $sender lives.
begin_push() {
    {
        printf '0074%040d %040d refs/heads/slow\000 report-status0000' 0 1
        printf 'PACK\000\000\000\002\000\000\000\001some bytes'
        sleep 60 &
        echo $! >sleep.pid
        wait
    } | curl -sS -m 60 -o slow.out -X POST -T - \
        -H 'Content-Type: application/x-git-receive-pack-request' \
        "$(url catalog)/git-receive-pack" >/dev/null 2>&1 &
    sender=$!
    until_true has_quarantine || return 1
}
quarantines() { find "$where/objects" -maxdepth 1 -name '*incoming-*'; }
has_quarantine() { [ -n "$(quarantines)" ]; }
no_quarantine() { [ -z "$(quarantines)" ]; }
children() { cat /proc/"$pid"/task/*/children; }
no_git() { [ -z "$(children)" ]; }

# The process that serves the push leads the group of its own children.
killed_push() {
    begin_push || return 1
    for child in $(children); do kill -9 "-$child"; done
    kill "$(cat sleep.pid)"
    until_true no_quarantine && until_true no_git && map two >catalog/two.yaml && change
}

left_push() {
    begin_push && kill "$sender" "$(cat sleep.pid)" && until_true no_quarantine && until_true no_git
}

# Another push of the repository is under way meanwhile, and nothing of it is touched.
killed_beside() {
    rm -f go
    g rev-parse HEAD | g pack-objects -q --revs --stdout >slow.pack || return 1
    {
        printf '0076%040d %s refs/heads/beside\000 report-status0000' 0 "$(g rev-parse HEAD)"
        head -c 40 slow.pack
        while [ ! -e go ]; do sleep 0.1; done
        tail -c +41 slow.pack
    } | curl -sS -m 60 -o beside.out -X POST -T - \
        -H 'Content-Type: application/x-git-receive-pack-request' \
        "$(url catalog)/git-receive-pack" &
    beside=$!
    until_true has_quarantine || return 1
    others=$(children)
    begin_push && until_true is 2 count_quarantines || return 1
    for child in $(children); do
        case " $others " in *" $child "*) ;; *) kill -9 "-$child" ;; esac
    done
    kill "$(cat sleep.pid)"
    until_true metric_is vedette_git_processes 1
    sleep 1 # the server looks, and waits for the push that was begun before
    : >go
    wait "$beside" && grep -a -q 'unpack ok' beside.out && until_true no_quarantine &&
        git ls-remote --exit-code "$(url catalog)" refs/heads/beside
}
count_quarantines() { quarantines | wc -l; }

# ---- upkeep ----

# The git that the server finds. Its gc waits while there is the file `slow`, and says that it runs,
# as git does, in gc.pid.
mkdir bin
cat >bin/git <<GIT
#!/bin/sh
case " \$* " in
*" gc "*)
    echo "\$\$ host" >gc.pid
    : >"$scratch/gc.runs"
    while [ -e "$scratch/slow" ]; do /bin/sleep 0.1; done
    ;;
esac
exec "$(command -v git)" "\$@"
GIT
chmod +x bin/git
PATH=$scratch/bin:$PATH

upkeeps() { metric "vedette_git_upkeeps_total{result=\"$1\"}"; }
upkeeps_are() { [ "$(upkeeps "$1")" = "$2" ]; }
packs() { find "$where/objects/pack" -name '*.pack' | wc -l; }
has() { git --git-dir="$where" cat-file -e "$1"; }
lacks() { ! has "$1" 2>/dev/null; }

# forced NAME: pushes a commit and another one over it; prints the first.
forced() {
    map "$1" first >"catalog/$1.yaml" && commit "$1" && g push -q origin HEAD:main &&
        g rev-parse HEAD && map "$1" second >"catalog/$1.yaml" &&
        g commit -q -a --amend -m "$1 again" && g push -q --force origin HEAD:main
}

# Packs that hold an object which nothing leads to.
add_packs() {
    add_at=0
    while [ "$(packs)" -le 50 ]; do
        add_at=$((add_at + 1))
        add_id=$(echo "blob $add_at" | git --git-dir="$where" hash-object -w --stdin) &&
            echo "$add_id" | git --git-dir="$where" pack-objects -q "$where/objects/pack/pack" \
                >/dev/null || return 1
    done
}

whole() {
    rm -rf whole && git clone -q "$(url catalog)" whole && git -C whole fsck --full &&
        git --git-dir="$where" fsck --connectivity-only && diff -r -x .git catalog whole
}

# What was pushed over is there for the grace period, which a pack's time tells.
merged() {
    old=$(forced old) || return 1
    find "$where/objects/pack" -type f -exec touch -d '3 weeks ago' {} +
    young=$(forced young) && add_packs && map last >catalog/last.yaml && change &&
        until_true upkeeps_are good 1 || return 1
    echo "$(packs) packs"
    [ "$(packs)" -le 2 ] && lacks "$old" && has "$young" && whole &&
        until_true grep -q 'a repository was packed' err && [ ! -e "$where/logs" ]
}

# Few packs are merged, too, when the last time is a day ago.
after_a_day() {
    map day >catalog/day.yaml && change && is 1 upkeeps good || return 1
    touch -d '25 hours ago' "$where/vedette-upkeep"
    map day 2 >catalog/day.yaml && change && until_true upkeeps_are good 2 && whole
}

# begin_upkeep: one that is under way.
begin_upkeep() {
    : >slow
    rm -f gc.runs
    touch -d '25 hours ago' "$where/vedette-upkeep"
    map again "$1" >catalog/again.yaml && change && until_true test -e gc.runs
}

# At the lowest priority.
is_nice() { [ "$(cut -d ' ' -f 19 "/proc/$(cut -d ' ' -f 1 "$where/gc.pid")/stat")" = 19 ]; }

beside_pushes() {
    begin_upkeep 1 && until_true is_nice && map beside >catalog/beside.yaml && change || return 1
    rm slow
    until_true upkeeps_are good 3 && agree catalog main && whole
}

is_running() { readlink "/proc/$1/cwd" >/dev/null; }
has_ended() { ! is_running "$1"; }

# The gc of the server that was killed is ended by the next one, which does it again.
killed_upkeep() {
    begin_upkeep 2 || return 1
    kill_server
    orphan=$(cut -d ' ' -f 1 "$where/gc.pid") && is_running "$orphan" || return 1
    : >"$where/objects/pack/tmp_pack_x"
    start_server && until_true grep -q 'has outlived the server' err &&
        until_true has_ended "$orphan" || return 1
    rm slow
    until_true upkeeps_are good 1 && agree catalog main && whole &&
        [ ! -e "$where/objects/pack/tmp_pack_x" ] && map more >catalog/more.yaml && change
}

# A repository that is deleted does not wait for it.
gives_way() {
    begin_upkeep 3 && k patch repository catalog --type merge \
        -p '{"spec":{"deletionPolicy":"Cascade"}}' && k delete repository catalog || return 1
    is 1 upkeeps stopped && [ ! -e "$where" ] && until_true no_git
}

# Nor for a client that does not go on with its push.
gives_up() {
    repository catalog "" >/dev/null 2>&1
    where=$(bare)
    begin_push && k delete repository catalog --timeout=20s && [ ! -e "$where" ] || return 1
    until_true no_git && kill "$(cat sleep.pid)"
    wait "$sender"
    ! find data/git -name '*.gone' | grep .
}

start_server >/dev/null
open_shop >/dev/null
repository catalog "" >/dev/null 2>&1
where=$(bare)
tap "nobody pushes past the server" direct
tap "nor into a folder of an older server" older
tap "what a killed push has sent is removed" killed_push
tap "so is what a client has sent that leaves" left_push
tap "but nothing of a push that is under way" killed_beside
tap "many packs become one, and what nothing leads to goes after a while" merged
tap "few packs become one after a day" after_a_day
tap "pushes go on meanwhile" beside_pushes
tap "a server that is killed meanwhile harms nothing" killed_upkeep
tap "a repository that is deleted does not wait for it" gives_way
tap "nor for a push that does not go on" gives_up
tap_end
