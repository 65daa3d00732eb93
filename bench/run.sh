#!/bin/sh
# Runs the benchmarks of a release build one after the other: the programs, the store's last of
# them, then the server under load.
#
#   bench/run.sh BUILD_DIR [PATTERN]
set -eu
build=${1:?usage: bench/run.sh BUILD_DIR [PATTERN]}
pattern=${2:-.}

programs=$(find "$build/bench" -maxdepth 1 -type f -perm -u+x -name '*_bench' |
    grep -e "$pattern" | sort | awk '/\/store_bench$/ {last = $0; next} {print} END {print last}')
server=$(echo server_bench | grep -e "$pattern" || true)
if [ -z "$programs$server" ]; then
    echo "bench/run.sh: no *_bench in $build/bench matches '$pattern'" >&2
    exit 1
fi
for program in $programs; do
    echo "== $(basename "$program")"
    "$program"
done
if [ -n "$server" ]; then
    echo "== server_bench"
    "$(dirname "$0")/server_bench.sh" "$build"
fi
