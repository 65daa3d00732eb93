#!/bin/sh
# Each header compiles alone, twice over, with the build's own flags: it includes what it needs and
# has an include guard.
#
# banned.h, which the build puts before every file, is left out: it would hide missing includes.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/tap.sh"

# flags: the compiler and its warnings, definitions and include folders, one a line, from the build.
flags() {
    python3 - "$build/compile_commands.json" <<'PYTHON'
import json, os, shlex, sys
for entry in json.load(open(sys.argv[1])):
    path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
    if "/src/base/" not in path:
        continue
    words = shlex.split(entry["command"])
    while os.path.basename(words[0]) in ("ccache", "distcc"):
        words.pop(0)
    print(words[0])
    for word in words[1:]:
        if word.startswith(("-W", "-D", "-std=", "-pthread")):
            print(word)
        elif word.startswith("-I"):
            print("-I" + os.path.normpath(os.path.join(entry["directory"], word[2:])))
    break
PYTHON
}

# compile_alone ROOT HEADER...: the headers, named from ROOT, each in a file of its own.
compile_alone() {
    root=$1
    shift
    rm -rf "$scratch/alone"
    mkdir "$scratch/alone"
    for header; do
        file=$scratch/alone/$(echo "$header" | tr '/.' '__').c
        printf '#include "%s"\n#include "%s"\n' "$header" "$header" >"$file"
    done
    # shellcheck disable=SC2046 # flags are words
    LC_ALL=C $(cat "$scratch/flags") -fsyntax-only -I"$root" "$scratch"/alone/*.c
}

headers_of() { (cd "$1" 2>/dev/null && find . -name '*.h' | sed 's/^\.\///' | LC_ALL=C sort); }

flags >"$scratch/all_flags"
cp "$scratch/all_flags" "$scratch/flags"
tap "the build's flags are known" test -s "$scratch/flags"

# One compiler run for a folder's headers, so that a failure names the folder as well.
for folder in "$top"/src/*/; do
    layer=$(basename "$folder")
    headers=$(headers_of "$top/src" | grep "^$layer/") || continue
    # shellcheck disable=SC2086 # header names have no spaces
    tap "headers of $layer" compile_alone "$top/src" $headers
done

# A user of the library has include/ only.
grep -v -e '^-I' "$scratch/all_flags" >"$scratch/flags"
headers=$(headers_of "$top/include")
if [ -n "$headers" ]; then
    # shellcheck disable=SC2086
    tap "public headers" compile_alone "$top/include" $headers
fi

mkdir "$scratch/made_up"
echo 'size_t vd_lazy(void);' >"$scratch/made_up/lazy.h"
echo 'struct vd_twice { int x; };' >"$scratch/made_up/twice.h"
tap "a header that misses an include is refused" complains "unknown type name" \
    compile_alone "$scratch/made_up" lazy.h
tap "a header without a guard is refused" complains "redefinition of" \
    compile_alone "$scratch/made_up" twice.h
tap_end
