#!/bin/sh
# Pushes of many manifests with the real git client, beside a plain push: the same commit to a bare
# repository of the same server of which no branch is admitted. That is the same transport and the
# same git, without validation and admission.
#
#   bench/git_bench.sh BUILD_DIR [ROUNDS]
#
# Each row is the best of so many rounds (3), in turns. A target that is missed is printed as MISS
# and does not fail the run, as the machine may be busy. A list that shows a part of a push, or an
# object that is missing, fails it.
set -eu
build=$(cd "${1:?usage: bench/git_bench.sh BUILD_DIR [ROUNDS]}" && pwd)
rounds=${2:-3}
server=$build/vedette
command -v git >/dev/null || { echo "  no git here"; exit 0; }
command -v curl >/dev/null || { echo "  no curl here"; exit 0; }

work=$(mktemp -d "$build/git_bench.XXXXXX")
pid=
reader=
stop() {
    for process in $reader $pid; do
        kill "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    pid='' reader=''
}
trap 'stop; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

GIT_CONFIG_NOSYSTEM=1
GIT_CONFIG_GLOBAL=/dev/null
GIT_TERMINAL_PROMPT=0
GIT_AUTHOR_NAME=bench GIT_AUTHOR_EMAIL=bench@localhost
GIT_COMMITTER_NAME=bench GIT_COMMITTER_EMAIL=bench@localhost
export GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL GIT_TERMINAL_PROMPT
export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL

# verdict WHAT VALUE OP TARGET NOTE
verdict() {
    awk -v what="$1" -v value="$2" -v op="$3" -v target="$4" -v note="$5" 'BEGIN {
        met = op == ">=" ? value + 0 >= target + 0 : value + 0 <= target + 0
        printf "  %-44s %10.2f  (%s %s)  %-4s  %s\n", \
            what, value, op, target, met ? "ok" : "MISS", note
    }'
}
# shown WHAT VALUE NOTE: a figure without a target.
shown() {
    awk -v what="$1" -v value="$2" -v note="$3" 'BEGIN {
        printf "  %-44s %10.2f  %s\n", what, value, note
    }'
}
divided() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", (b > 0 ? a / b : 0) }'; }
least() { sort -n "$1" | head -n 1; }

# start: a server with a fresh data folder.
start() {
    rm -rf "$work/data"
    mkdir -m 700 "$work/data"
    token=$("$server" token create --data "$work/data" --user bench --groups system:masters)
    : >"$work/server"
    "$server" serve --data "$work/data" --listen 127.0.0.1:0 --tls-listen off \
        --access-log off >"$work/server" 2>"$work/server.err" &
    pid=$!
    until grep -q '^ready' "$work/server"; do
        kill -0 "$pid" 2>/dev/null || { cat "$work/server.err" >&2; exit 1; }
        sleep 0.01
    done
    http=$(sed -n 's/^ready.*\(http:[^ ]*\).*/\1/p' "$work/server")
}

call() {
    curl -sS -f -m 120 -H "Authorization: Bearer $token" "$@"
}
create() {
    call -o /dev/null -H 'Content-Type: application/json' -d "$2" "$http$1"
}

# repositories NAMESPACE: with one that is admitted and one that is not.
repositories() {
    create /api/v1/namespaces "{\"metadata\":{\"name\":\"$1\"}}"
    for spec in '"admitted"},"spec":{}' '"plain"},"spec":{"branches":["never/*"]}'; do
        create "/apis/git.vedette.dev/v1/namespaces/$1/repositories" \
            "{\"apiVersion\":\"git.vedette.dev/v1\",\"kind\":\"Repository\",
            \"metadata\":{\"name\":$spec}"
    done
    until git ls-remote -q "$(url "$1" admitted)" >"$work/refs" 2>&1 &&
        git ls-remote -q "$(url "$1" plain)" >"$work/refs" 2>&1; do
        sleep 0.05
    done
}
url() { echo "http://bench:$token@${http#http://}/$1/$2.git"; }

# tree COUNT: a commit with so many products, 100 in each folder, about 600 bytes each.
tree() {
    git init -q -b main "$work/tree$1"
    awk -v n="$1" -v to="$work/tree$1" 'BEGIN {
        for (i = 0; i < n; i++) {
            folder = sprintf("%s/products/%03d", to, i / 100)
            if (i % 100 == 0) system("mkdir -p " folder)
            file = sprintf("%s/product-%05d.md", folder, i)
            printf "---\napiVersion: catalog.gitstore.dev/v1beta1\nkind: Product\nmetadata:\n" \
                "  name: product-%05d\n  labels: {season: summer}\nspec:\n  title: Product %d\n" \
                "  categoryRef: {name: shoes}\n  tags: [shoe, summer, light]\n" \
                "  options:\n  - name: size\n    values: [\"40\", \"41\", \"42\"]\n" \
                "  - name: colour\n    values: [red, blue]\n---\n# Product %d\n\n" \
                "They are light, they last for years, and they come in two colours. This is the " \
                "text that a page shows beside the picture.\n", i, i, i >file
            close(file)
        }
    }'
    git -C "$work/tree$1" add .
    git -C "$work/tree$1" commit -q -m "$1 products"
}

# push COUNT NAMESPACE REPOSITORY: seconds that it took.
push() {
    begin=$(date +%s%N)
    git -C "$work/tree$1" push -q "$(url "$2" "$3")" main 2>"$work/said" || {
        cat "$work/said" >&2
        exit 1
    }
    end=$(date +%s%N)
    awk -v ns="$((end - begin))" 'BEGIN { printf "%.3f\n", ns / 1e9 }'
}

# products NAMESPACE: how many a list shows. curl would get it indented, in pages.
products() {
    path=/apis/catalog.gitstore.dev/v1beta1/namespaces/$1/products
    call -o "$work/list" "$http$path?pretty=0" &&
        grep -o '"uid":' "$work/list" | wc -l
}

# read_on COUNT NAMESPACE: lists until all are there; fails if a list has some of them.
read_on() {
    lists=0
    while :; do
        seen=$(products "$2") || seen=error
        lists=$((lists + 1))
        echo "$lists $seen" >"$work/lists"
        case $seen in
        0) ;;
        "$1") return 0 ;;
        *) return 1 ;;
        esac
    done
}

peak_mb() { awk '/^VmHWM/ { printf "%.1f", $2 / 1024 }' "/proc/$pid/status"; }
# step NAME: seconds that a step of all pushes took.
step() {
    call "$http/metrics" |
        sed -n "s/^vedette_git_push_step_seconds_sum{step=\"$1\"} //p"
}

# row COUNT SECONDS: the target.
row() {
    tree "$1"
    start
    : >"$work/admitted"
    : >"$work/plain"
    for round in $(seq "$rounds"); do
        repositories "round-$round"
        push "$1" "round-$round" plain >>"$work/plain"
        push "$1" "round-$round" admitted >>"$work/admitted"
        grep -q "admitted $1 resources" "$work/said" || { cat "$work/said" >&2; exit 1; }
    done
    admitted=$(least "$work/admitted")
    plain=$(least "$work/plain")
    verdict "git push of $1 manifests, s" "$admitted" '<=' "$2" ""
    shown "  ratio to a plain push" "$(divided "$admitted" "$plain")" \
        "which took $plain s over the same transport"
    shown "  validation, mean, s" "$(divided "$(step validation)" "$rounds")" ""
    shown "  admission, mean, s" "$(divided "$(step admission)" "$rounds")" ""
    stop
}

# memory_and_lists COUNT: one push to a fresh server, while somebody lists.
memory_and_lists() {
    start
    repositories once
    push "$1" once admitted >"$work/seconds"
    verdict "  memory of the server at most, MB" "$(peak_mb)" '<=' 200 ""
    repositories watched
    read_on "$1" watched &
    reader=$!
    push "$1" watched admitted >"$work/seconds"
    if wait "$reader"; then
        verdict "  lists that showed a part of the push" 0 '<=' 0 \
            "of $(cut -d ' ' -f 1 "$work/lists") lists: 0 objects, then $1"
    else
        echo "  BROKEN PROMISE: a list of $1 objects showed $(cut -d ' ' -f 2 "$work/lists")"
        exit 1
    fi
    reader=
    stop
}

# cpu: the server's CPU time, in ticks; its git processes are not in it.
cpu() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }

# validation COUNT: a push that is refused for one file costs the validation of all of them.
validation() {
    start
    repositories refused
    printf 'apiVersion: catalog.gitstore.dev/v1beta1\nkind: Product\nmetadata: {name: wrong}\n' \
        >"$work/tree$1/wrong.yaml"
    echo 'spec: {title: 1}' >>"$work/tree$1/wrong.yaml"
    git -C "$work/tree$1" add .
    git -C "$work/tree$1" commit -q -m wrong
    before=$(cpu)
    if git -C "$work/tree$1" push -q "$(url refused admitted)" main 2>"$work/said" ||
        ! grep -q 'wrong.yaml:4' "$work/said"; then
        cat "$work/said" >&2
        exit 1
    fi
    after=$(cpu)
    verdict "  manifests validated in 1 s of CPU time" \
        "$(divided "$(($1 * $(getconf CLK_TCK)))" "$((after - before))")" '>=' 20000 \
        "with all that the server does for the push"
    git -C "$work/tree$1" reset -q --hard HEAD~1
    stop
}

row 100 1
row 10000 15
memory_and_lists 10000
validation 10000
