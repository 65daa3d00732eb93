#!/bin/sh
# Runs the benchmarks of a release build one after the other; the store's, the longest, comes last.
#
#   bench/run.sh BUILD_DIR [PATTERN]
set -eu
build=${1:?usage: bench/run.sh BUILD_DIR [PATTERN]}
pattern=${2:-.}

programs=$(find "$build/bench" -maxdepth 1 -type f -perm -u+x -name '*_bench' |
    grep -e "$pattern" | sort | awk '/\/store_bench$/ {last = $0; next} {print} END {print last}')
if [ -z "$programs" ]; then
    echo "bench/run.sh: no *_bench in $build/bench matches '$pattern'" >&2
    exit 1
fi
for program in $programs; do
    echo "== $(basename "$program")"
    "$program"
done
