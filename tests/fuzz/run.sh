#!/bin/sh
# Runs the libFuzzer targets of a build folder, each for some seconds.
#
#   tests/fuzz/run.sh BUILD_DIR SECONDS [PATTERN]
#
# Target X starts from tests/fuzz/corpus/X; what it finds on the way goes to BUILD_DIR/found/X, an
# input that breaks it to BUILD_DIR/X-crash-*. A fixed bug's input moves into the corpus, and from
# then on `make test` replays it.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:?usage: tests/fuzz/run.sh BUILD_DIR SECONDS [PATTERN]}" && pwd)
seconds=${2:?usage: tests/fuzz/run.sh BUILD_DIR SECONDS [PATTERN]}
pattern=${3:-.}

ran=0
for target in "$build"/tests/*_fuzz; do
    name=$(basename "$target" _fuzz)
    echo "$name" | grep -q -e "$pattern" || continue
    corpus=$top/tests/fuzz/corpus/$name
    dictionary=$top/tests/fuzz/$name.dict
    mkdir -p "$build/found/$name"
    log=$build/$name.log
    set -- -max_total_time="$seconds" -timeout=10 -print_final_stats=1 \
        -artifact_prefix="$build/$name-"
    if [ -f "$dictionary" ]; then set -- "$@" -dict="$dictionary"; fi
    "$target" "$@" "$build/found/$name" "$corpus" >"$log" 2>&1 || {
        tail -n 60 "$log" >&2
        echo "fuzz: $name failed; the log is $log, the input is beside it" >&2
        exit 1
    }
    awk -v name="$name" -v seconds="$seconds" '/^stat::/ {stat[$1] = $2} END {
        printf "%-20s %4d s %10d runs %6d new inputs\n", name, seconds,
            stat["stat::number_of_executed_units:"], stat["stat::new_units_added:"]}' "$log"
    ran=$((ran + 1))
done
if [ "$ran" -eq 0 ]; then
    echo "fuzz: no target in $build/tests matches '$pattern'" >&2
    exit 1
fi
