#!/bin/sh
# The server's rows of the performance targets, as ratios within one run: each row is
# measured on the ceiling (bench/ceiling.c) and on the server in turns, plain and over TLS.
#
#   bench/server_bench.sh BUILD_DIR [SECONDS] [PATTERN]
#
# SECONDS is how long a row takes, PATTERN picks rows by name. JSON lines of all runs go to
# BUILD_DIR/server_bench.jsonl. A target that is missed is printed as MISS and does not fail the
# run, as the machine may be busy. A broken promise (a watcher that was cut off, an event that is
# missing or out of order) fails the run. DOOR is the listener that a row uses: plain or tls.
set -eu
build=${1:?usage: bench/server_bench.sh BUILD_DIR [SECONDS] [PATTERN]}
seconds=${2:-2}
pattern=${3:-.}
load=$build/bench/load
server=$build/vedette
results=$build/server_bench.jsonl

# The peer: figures of kube-apiserver 1.32 with etcd on a machine of two cores. Some targets are
# multiples of them.
peer_writes_64=1300
peer_replay=64000
peer_list_mb=90

work=$(mktemp -d "$build/server_bench.XXXXXX")
pids=
broken=0
stop_all() {
    for pid in $pids; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    pids=
}
spinners=
# shellcheck disable=SC2086 # a list; they may be stopped (SIGSTOP), so only SIGKILL ends them
trap 'kill -KILL $spinners 2>/dev/null || true; stop_all; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
: >"$results"

# await FILE PID: waits for the line "ready ..." of a program that was just started.
await() {
    until grep -q '^ready' "$1"; do
        kill -0 "$2" 2>/dev/null || { cat "$1" "$1.err" >&2; exit 1; }
        sleep 0.01
    done
}

# start_server: a fresh data folder; sets pid, plain, tls, token.
start_server() {
    rm -rf "$work/data"
    mkdir -m 700 "$work/data"
    token=$("$server" token create --data "$work/data" --user bench --groups system:masters)
    : >"$work/server"
    "$server" serve --data "$work/data" --listen 127.0.0.1:0 --tls-listen 127.0.0.1:0 \
        --access-log off >"$work/server" 2>"$work/server.err" &
    pid=$!
    pids="$pids $pid"
    await "$work/server" "$pid"
    plain=$(sed -n 's/^ready.*\(http:[^ ]*\).*/\1/p' "$work/server")
    tls=$(sed -n 's/^ready.*\(https:[^ ]*\).*/\1/p' "$work/server")
}

# start_ceiling DOOR: sets pid and url; the certificate is the one that the server made.
start_ceiling() {
    : >"$work/ceiling"
    if [ "$1" = tls ]; then
        set -- "$work/ceiling.crt" "$work/ceiling.key"
    else
        set --
    fi
    : >"$work/ceiling"
    "$build/bench/ceiling" "$@" >"$work/ceiling" 2>"$work/ceiling.err" &
    pid=$!
    pids="$pids $pid"
    await "$work/ceiling" "$pid"
    url=$(sed -n 's/^ready //p' "$work/ceiling")
}

# field JSON NAME: prints a number of a JSON line; "NAME.p99" is the member p99 of the object NAME.
field() {
    name=${2%.*}
    if [ "$name" = "$2" ]; then
        printf '%s\n' "$1" | sed -n "s/.*\"$name\":\([-0-9.]*\).*/\1/p"
    else
        printf '%s\n' "$1" | sed -n "s/.*\"$name\":{[^}]*\"${2##*.}\":\([0-9.]*\).*/\1/p"
    fi
}

say() {
    printf '  %-44s %s\n' "$1" "$2"
}

# verdict WHAT VALUE OP TARGET NOTE
verdict() {
    awk -v what="$1" -v value="$2" -v op="$3" -v target="$4" -v note="$5" 'BEGIN {
        met = op == ">=" ? value + 0 >= target + 0 : value + 0 <= target + 0
        printf "  %-44s %10.2f  (%s %s)  %-4s  %s\n", \
            what, value, op, target, met ? "ok" : "MISS", note
    }'
}

# ratio A B: A divided by B.
ratio() {
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f\n", (b > 0 ? a / b : 0) }'
}

wanted() {
    printf '%s\n' "$1" | grep -q -e "$pattern"
}

# run WHO MODE OPTION...: one line of JSON in $line.
run() {
    who=$1
    shift
    line=$("$load" "$@" --seconds "$seconds" --pid "$pid")
    printf '{"who":"%s","run":%s}\n' "$who" "$line" >>"$results"
    case $line in
    *'"right":false'*)
        echo "  BROKEN PROMISE: $who $line"
        [ "$who" = ceiling ] || broken=1
        ;;
    esac
}

# on_ceiling DOOR MODE OPTION... and on_server DOOR MODE OPTION...
on_ceiling() {
    door=$1
    shift
    start_ceiling "$door"
    run ceiling "$@" --server "$url"
    stop_all
}

on_server() {
    door=$1
    shift
    start_server
    url=$plain
    [ "$door" = plain ] || url=$tls
    run server "$@" --server "$url" --token "$token"
    stop_all
}

# fanout DOOR WATCHERS WRITERS TARGET
fanout() {
    wanted "fanout $1 $2 $3" || return 0
    on_ceiling "$1" fanout --watchers "$2" --writers "$3"
    ceiling=$line
    on_server "$1" fanout --watchers "$2" --writers "$3"
    verdict "fan-out $1, $2 watchers, $3 writers" \
        "$(ratio "$(field "$line" events_per_s)" "$(field "$ceiling" events_per_s)")" '>=' "$4" \
        "of $(field "$ceiling" events_per_s) events/s"
    verdict "  its p99" \
        "$(ratio "$(field "$line" latency_ms.p99)" "$(field "$ceiling" latency_ms.p99)")" '<=' 1.5 \
        "of $(field "$ceiling" latency_ms.p99) ms"
    say "  its CPU an event, us" \
        "$(field "$line" cpu_us_per_event), the ceiling's $(field "$ceiling" cpu_us_per_event)"
}

# http2 WATCHERS CONNECTIONS WRITERS: the same watches over a few connections of HTTP/2, against one
# connection of HTTP/1.1 each, over TLS; and what they cost in memory.
http2() {
    wanted "http2 $1 $2 $3" || return 0
    on_server tls fanout --watchers "$1" --writers "$3"
    old=$line
    on_server tls fanout --watchers "$1" --writers "$3" --http2-connections "$2"
    verdict "fan-out, $1 watches over $2 HTTP/2, $3 writers" \
        "$(ratio "$(field "$line" events_per_s)" "$(field "$old" events_per_s)")" '>=' 0.6 \
        "of $(field "$old" events_per_s) events/s over HTTP/1.1"
    say "  its CPU an event, us" \
        "$(field "$line" cpu_us_per_event), HTTP/1.1's $(field "$old" cpu_us_per_event)"
    on_server tls idle --watchers "$1" --http2-connections "$2"
    mb=$(printf '%s\n' "$line" | sed 's/.*"resident_kb":\[\([^]]*\).*/\1/' |
        awk -F , '{ print ($2 - $1) / 1024 }')
    verdict "  memory of the $1 watches, MB" "$mb" '<=' 10 ""
}

# write_row DOOR WRITERS
write_row() {
    wanted "write $1 $2" || return 0
    on_ceiling "$1" write --writers "$2"
    ceiling=$line
    on_server "$1" write --writers "$2"
    n=$(field "$line" writes_per_s)
    say "durable writes $1, $2 writers" \
        "$(ratio "$n" "$(field "$ceiling" writes_per_s)") of the ceiling, which keeps nothing"
    if [ "$2" -eq 1 ]; then
        parts=$("$build/bench/put_bench" parts)
        sqlite=${parts% *}
        store=${parts#* }
        verdict "  beside SQLite alone" "$(ratio "$n" "$sqlite")" '>=' 0.6 "$n/s of $sqlite/s"
        # The rate if the ceiling's round trip and the store's write came one after the other.
        both=$(awk -v a="$(field "$ceiling" writes_per_s)" -v b="$store" \
            'BEGIN { printf "%.0f", 1 / (1 / a + 1 / b) }')
        say "  a round trip and the store's write alone" "$both/s, $(ratio "$both" "$sqlite")"
    else
        verdict "  beside the peer" "$(ratio "$n" $peer_writes_64)" '>=' 20 "$n/s"
    fi
}

# A change must cost the same whether 5,000 watch other namespaces or nobody does.
bystanders() {
    wanted "bystanders" || return 0
    on_server plain write --writers 8
    alone=$line
    on_server plain write --writers 8 --watchers 5000 \
        --watch-path /api/v1/namespaces/elsewhere/configmaps
    verdict "CPU of a write, 5,000 watch elsewhere / none" \
        "$(ratio "$(field "$line" cpu_us_per_write)" \
            "$(field "$alone" cpu_us_per_write)")" '<=' 1.1 \
        "of $(field "$alone" cpu_us_per_write) us"
}

# idle DOOR KB
idle() {
    wanted "idle $1" || return 0
    on_server "$1" idle --watchers 5000
    verdict "idle watch $1, KB each" "$(field "$line" kb_each)" '<=' "$2" "5,000 watchers"
}

# replay DOOR EVENTS_PER_S
replay() {
    wanted "replay $1" || return 0
    on_ceiling "$1" replay --watchers 50
    ceiling=$line
    on_server "$1" replay --watchers 50
    verdict "replay $1 to 50, k events/s" \
        "$(ratio "$(field "$line" events_per_s)" 1000)" '>=' "$2" \
        "$(ratio "$(field "$line" events_per_s)" "$(field "$ceiling" events_per_s)") of the ceiling"
}

# list DOOR
list() {
    wanted "list $1" || return 0
    on_ceiling "$1" list --objects 10000 --clients 2
    ceiling=$line
    on_server "$1" list --objects 10000 --clients 2
    mb=$(field "$line" mb_per_s)
    verdict "LIST of 10,000 $1, beside the peer" "$(ratio "$mb" $peer_list_mb)" '>=' 8 \
        "$mb MB/s, $(ratio "$mb" "$(field "$ceiling" mb_per_s)") of the ceiling"
    say "  resident before and during, KB" \
        "$(printf '%s\n' "$line" | sed 's/.*"resident_kb":\[\([^]]*\).*/\1/')"
}

# post URL FILE: creates the object in FILE.
post() {
    curl -sSf -m 20 -o /dev/null -H "Authorization: Bearer $token" \
        -H 'Content-Type: application/json' -d @"$2" "$1"
}

# definitions CLIENTS: a thousand kinds, made over REST.
definitions() {
    wanted "definitions $1" || return 0
    on_server plain definitions --objects 1000 --clients "$1"
    verdict "1,000 definitions, $1 clients, s" "$(field "$line" seconds)" '<=' 2 \
        "$(field "$line" cpu_s) s of CPU"
    verdict "  resident MB more" "$(field "$line" resident_mb)" '<=' 30 ""
    verdict "  discovery of them, ms" "$(field "$line" discovery_first_ms)" '<=' 20 \
        "then $(field "$line" discovery_ms) ms"
    say "  the index of OpenAPI, ms" "$(field "$line" openapi_index_ms)"
}

# ten_rules: CEL rules like those that real definitions have.
ten_rules() {
    cat <<END
"x-kubernetes-validations":[
{"rule":"size(self.pad) <= 4096"},{"rule":"self.mode in ['fast', 'slow']"},
{"rule":"self.mode == oldSelf.mode","message":"mode is immutable"},
{"rule":"!has(self.min) || !has(self.max) || self.min <= self.max"},
{"rule":"has(self.min) == has(self.max)"},{"rule":"self.at.matches('^[0-9]+$')"},
{"rule":"int(self.at) >= 0"},{"rule":"!self.pad.startsWith('forbidden-')"},
{"rule":"!has(self.tags) || self.tags.all(t, size(t) < 64)"},
{"rule":"self.mode != 'slow' || has(self.max)"}],
END
}

# write_custom RULES: writes of a custom kind, whose schema has these rules.
write_custom() {
    cat >"$work/crd.json" <<END
{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"loads.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
"names":{"kind":"Load","plural":"loads"},"versions":[{"name":"v1","served":true,"storage":true,
"schema":{"openAPIV3Schema":{"type":"object","required":["data"],"properties":{"data":{
"type":"object","required":["at","pad"],$1"properties":{
"at":{"type":"string","maxLength":32,"pattern":"^[0-9]+$"},
"pad":{"type":"string","minLength":1,"maxLength":4096},
"mode":{"type":"string","enum":["fast","slow"],"default":"fast"},
"min":{"type":"integer"},"max":{"type":"integer"},
"tags":{"type":"array","maxItems":16,"items":{"type":"string","maxLength":64}}}}}}}}]}}
END
    start_server
    post "$plain/apis/apiextensions.k8s.io/v1/customresourcedefinitions" "$work/crd.json"
    run server write --writers 64 --server "$plain" --token "$token" --kind Load \
        --api-version example.com/v1 --path /apis/example.com/v1/namespaces/default/loads
    stop_all
}

# Objects of a custom kind go through its schema and rules; ConfigMaps through theirs.
custom() {
    wanted "custom" || return 0
    on_server plain write --writers 64
    maps=$(field "$line" writes_per_s)
    write_custom ""
    verdict "writes of a custom kind / of ConfigMaps" \
        "$(ratio "$(field "$line" writes_per_s)" "$maps")" '>=' 0.8 "of $maps/s"
    write_custom "$(ten_rules)"
    verdict "  with 10 CEL rules" \
        "$(ratio "$(field "$line" writes_per_s)" "$maps")" '>=' 0.6 "of $maps/s"
}

resident_mb() {
    awk '/^VmRSS/ {print $2 / 1024}' "/proc/$1/status"
}

# start_again: starts the server again on its folder; sets ready_ms, with the time of the shell's
# own steps.
start_again() {
    before=$(date +%s%N)
    : >"$work/server"
    "$server" serve --data "$work/data" --listen 127.0.0.1:0 --tls-listen 127.0.0.1:0 \
        --access-log off >"$work/server" 2>"$work/server.err" &
    pid=$!
    pids="$pids $pid"
    until grep -q '^ready' "$work/server"; do :; done
    ready_ms=$(ratio $(($(date +%s%N) - before)) 1000000)
}

full() {
    wanted "full" || return 0
    on_server plain list --objects 100000 --clients 1
    start_again
    verdict "ready with 100,000 objects after, ms" "$ready_ms" '<=' 1000 \
        "$(resident_mb "$pid") MB resident"
    stop_all
}

empty() {
    wanted "empty" || return 0
    start_server # the first start makes keys
    stop_all
    start_again
    verdict "ready again after, ms" "$ready_ms" '<=' 50 "the shell's own steps are in it"
    "$load" idle --server "$(sed -n 's/^ready.*\(http:[^ ]*\).*/\1/p' "$work/server")" \
        --token "$token" --watchers 1 --seconds 1 >/dev/null
    verdict "empty server, resident MB" "$(resident_mb "$pid")" '<=' 10 "after its first requests"
    stop_all
    size=$(objcopy --strip-all "$server" "$work/stripped" && wc -c <"$work/stripped")
    verdict "binary, MB" "$(ratio "$size" 1048576)" '<=' 5 "stripped"
}

# user NAME: a token of a user in the group `crowd`, who may edit and is no administrator.
user() {
    "$server" token create --data "$work/data" --user "$1" --groups crowd
}

# bind_crowd: lets the users of the group `crowd` edit.
bind_crowd() {
    curl -sS -f -o /dev/null -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
        -d '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding",
            "metadata":{"name":"crowd"},
            "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"edit"},
            "subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"crowd"}]}' \
        "$plain/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
}

# pulse WHAT: measures another user's reads and writes, and adds their p99 to the figures of WHAT.
pulse() {
    run server pulse --server "$plain" --token "$other" --objects 100
    field "$line" read_ms.p99 >>"$work/$1_reads"
    field "$line" write_ms.p99 >>"$work/$1_writes"
}

# middle WHAT: the median of its numbers.
middle() {
    sort -n "$work/$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# parked N: whether at least N watches are parked, as their clients do not read.
parked() {
    curl -sS -H "Authorization: Bearer $token" "$plain/metrics" |
        awk -v n="$1" '/^watch_watchers.*parked/ { sum += $NF } END { exit sum < n }'
}

# crowd USER WATCHERS CLIENTS: opens watches of the user that it does not read, and keeps
# connections busy, in the background and only on CPU time that other programs leave.
crowd() {
    : >"$work/$1"
    chrt -i 0 "$load" greedy --server "$plain" --token "$(user "$1")" --watchers "$2" \
        --clients "$3" --seconds $((seconds * 40 + 120)) >"$work/$1" 2>"$work/$1.err" &
    await "$work/$1" $!
}

# spin: starts a process for each CPU that only uses up the CPU time that other programs leave.
spin() {
    spinners=''
    for _ in $(seq "$(nproc)"); do
        chrt -i 0 sh -c 'while :; do :; done' &
        spinners="$spinners $!"
    done
}

# Another user's reads and writes beside one with 5,000 watches that nobody reads and 200 busy
# connections. That user keeps all CPUs busy, and on a virtual machine this alone moves a p99: busy
# CPUs are taken away for milliseconds, idle ones are not. So the target compares the greedy user
# with processes that only spin; the figure on an otherwise idle machine is printed, too. The three
# are measured in turns, as p99 differs from minute to minute.
fair() {
    wanted fair || return 0
    start_server
    bind_crowd
    other=$(user other)
    "$load" write --server "$plain" --token "$token" --seconds 0.1 >/dev/null
    spin
    # shellcheck disable=SC2086 # a list
    kill -STOP $spinners
    crowd greedy 5000 200
    greedy=$!
    until parked 4500; do # until the kernel's socket buffers are full
        "$load" write --server "$plain" --token "$token" --seconds 0.5 >/dev/null
    done
    # shellcheck disable=SC2086
    for _ in 1 2 3 4 5 6 7 8 9; do
        kill -STOP "$greedy"
        pulse idle
        kill -CONT $spinners
        pulse busy
        kill -STOP $spinners
        kill -CONT "$greedy"
        pulse greedy
    done
    # shellcheck disable=SC2086
    kill -KILL $spinners
    spinners=
    for what in reads writes; do
        verdict "p99 of another's $what, beside a greedy user" \
            "$(ratio "$(middle greedy_$what)" "$(middle busy_$what)")" '<=' 1.25 \
            "of $(middle busy_$what) ms on CPUs that are as busy"
        say "  of what it is on idle ones" \
            "$(ratio "$(middle greedy_$what)" "$(middle idle_$what)") of $(middle idle_$what) ms"
    done
    say "  resident with 5,000 such watches, MB" "$(resident_mb "$pid")"
    kill "$greedy" 2>/dev/null || true
    wait "$greedy" 2>/dev/null || true
    say "  answers that the greedy user got, a second" \
        "$(field "$(tail -n 1 "$work/greedy")" answers_per_s)"
    stop_all
}

# until_known TOKEN: waits until the server accepts the token.
until_known() {
    until curl -sS -f -o /dev/null -H "Authorization: Bearer $1" "$plain/api" 2>/dev/null; do
        sleep 0.1
    done
}

# vigil: starts a program that asks for /readyz, and reads and writes as the other user.
vigil() {
    : >"$work/vigil"
    "$load" vigil --server "$plain" --token "$other" --seconds 600 \
        >"$work/vigil" 2>"$work/vigil.err" &
    vigil_pid=$!
    await "$work/vigil" "$vigil_pid"
    waited=$(waited_ms)
}

# waited_ms: how long the server's threads were ready and had no CPU.
waited_ms() {
    cat "/proc/$pid/task"/*/schedstat | awk '{ sum += $2 } END { printf "%d\n", sum / 1000000 }'
}

# vigil_end WHAT: ends that program and prints what it measured beside WHAT. The target is for the
# slowest answer of /readyz.
vigil_end() {
    kill "$vigil_pid"
    wait "$vigil_pid" || { cat "$work/vigil.err" >&2; exit 1; }
    seen=$(tail -n 1 "$work/vigil")
    printf '{"who":"server","beside":"%s","run":%s}\n' "$1" "$seen" >>"$results"
    case $seen in *'"right":false'*) broken=1 ;; esac
    kept=$(field "$seen" ready_ms.max)
    fresh=$(field "$seen" fresh_ms.max)
    longest=$(awk -v a="$kept" -v b="$fresh" 'BEGIN { print (a + 0 > b + 0 ? a : b) }')
    verdict "/readyz, ms: $1" "$longest" '<=' 100 "target: within 100 ms"
    say "  p50, p99, max on a kept connection" \
        "$(field "$seen" ready_ms.p50), $(field "$seen" ready_ms.p99), $kept"
    say "  p50, p99, max on a new one" \
        "$(field "$seen" fresh_ms.p50), $(field "$seen" fresh_ms.p99), $fresh"
    say "  the server waited for a CPU, ms in all" "$(($(waited_ms) - waited))"
    say "  another user was served, refused" \
        "$(field "$seen" served), $(field "$seen" refused)"
}

# flood WHAT MODE OPTION...: runs a flood to its end, with a vigil beside it. The flood gets only
# CPU time that other programs leave, as in `fair`.
flood() {
    what=$1
    shift
    vigil
    line=$(nice -n 19 "$load" "$@" --token "$greedy" --seconds "$seconds" | tail -n 1)
    vigil_end "$what"
    printf '{"who":"server","run":%s}\n' "$line" >>"$results"
    case $line in *'"right":true'*) ;; *) echo "  BROKEN PROMISE: $line" && broken=1 ;; esac
    say "  the flood" "$(printf '%s\n' "$line" | tr -d '{}"' | sed 's/,/, /g; s/, right.*//')"
}

# Watches that are not read: while they are opened, while their backlogs fill, and when these are
# full.
flood_of_watches() {
    : >"$work/slow"
    vigil
    nice -n 19 "$load" slow --server "$plain" --token "$greedy" --watchers 5000 \
        --receive-buffer 4096 --seconds 600 >"$work/slow" 2>"$work/slow.err" &
    slow=$!
    await "$work/slow" "$slow"
    vigil_end "5,000 slow watches arrive"
    vigil
    until parked 5000; do
        "$load" write --server "$plain" --token "$token" --seconds 0.5 >/dev/null
    done
    vigil_end "their queues fill"
    vigil
    "$load" write --server "$plain" --token "$token" --seconds "$seconds" >/dev/null
    vigil_end "and are full"
    kill "$slow"
    wait "$slow" || true
    say "  of them were refused, stood to the end" \
        "$(field "$(tail -n 1 "$work/slow")" refused), $(field "$(tail -n 1 "$work/slow")" open)"
}

# Floods of one user, and how they affect others.
floods() {
    wanted floods || return 0
    start_server
    bind_crowd
    greedy=$(user greedy)
    other=$(user other)
    until_known "$greedy"
    until_known "$other"
    "$load" write --server "$plain" --token "$token" --seconds 0.1 >/dev/null
    say "load average of this machine" "$(cut -d ' ' -f 1-3 /proc/loadavg)"
    vigil
    sleep "$seconds"
    vigil_end "no flood"
    flood "100,000 requests" requests --server "$plain" --clients 500 --requests 100000
    flood "the same over TLS" requests --server "$tls" --clients 500 --requests 100000
    maps=/api/v1/namespaces/default/configmaps
    flood "rapid reset" resets --server "$plain" --clients 50 --requests 100000 --path $maps
    flood "the same over TLS" resets --server "$tls" --clients 50 --requests 100000 --path $maps
    flood_of_watches
    stop_all
}

start_server
cp "$work/data/pki/server.crt" "$work/ceiling.crt"
cp "$work/data/pki/server.key" "$work/ceiling.key"
stop_all

empty
for door in plain tls; do
    fanout "$door" 100 8 0.5
    fanout "$door" 100 64 0.5
    fanout "$door" 1000 8 0.7
    fanout "$door" 1000 64 0.6
    fanout "$door" 5000 8 0.7
    fanout "$door" 5000 64 0.6
    write_row "$door" 1
    write_row "$door" 64
    list "$door"
done
full
http2 1000 10 8
http2 1000 10 64
bystanders
idle plain 1
idle tls 16
fair
floods
replay plain 1000
replay tls $((peer_replay * 10 / 1000))
definitions 1
definitions 8
custom
exit $broken
