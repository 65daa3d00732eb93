#!/bin/sh
# Runs the benchmarks of a release build one after the other: the programs, the store's last of
# them, then pushes with git, then the server under load.
#
#   bench/run.sh BUILD_DIR [PATTERN]
set -eu
build=${1:?usage: bench/run.sh BUILD_DIR [PATTERN]}
pattern=${2:-.}

programs=$(find "$build/bench" -maxdepth 1 -type f -perm -u+x -name '*_bench' |
    grep -e "$pattern" | sort | awk '/\/store_bench$/ {last = $0; next} {print} END {print last}')
scripts=$(printf 'git_bench\nserver_bench\n' | grep -e "$pattern" || true)
if [ -z "$programs$scripts" ]; then
    echo "bench/run.sh: no *_bench in $build/bench matches '$pattern'" >&2
    exit 1
fi
for program in $programs; do
    echo "== $(basename "$program")"
    "$program"
done
for script in $scripts; do
    echo "== $script"
    "$(dirname "$0")/$script.sh" "$build"
done
