#!/bin/sh
# Every file of kinds/ is compiled in, and the embedded texts are the files.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/tap.sh"

# left_out: a line for each file that src/kinds/meson.build does not name.
left_out() {
    for file in "$top"/kinds/*; do
        grep -q -F "'../../kinds/$(basename "$file")'" "$top/src/kinds/meson.build" ||
            echo "$file: not in src/kinds/meson.build"
    done
}

# round_trip FILE: the text that a program with the embedded file prints is the file.
round_trip() {
    "$top/tools/embed.sh" "$scratch/embedded.c" "$1" && cat >"$scratch/main.c" <<'C' &&
#include <stdio.h>
#include "kinds/builtin_files.h"
int main(void)
{
    return fwrite(vd_builtin_files[0].text.p, 1, vd_builtin_files[0].text.n, stdout) !=
           vd_builtin_files[0].text.n;
}
C
        ${CC:-cc} -I"$top/src" -o "$scratch/print" "$scratch/main.c" "$scratch/embedded.c" &&
        "$scratch/print" >"$scratch/printed" && cmp "$1" "$scratch/printed"
}

printf 'a: "\\n\\\\"\n# ??= %%s \\"\n\n  b: tab\there\n' >"$scratch/odd.yaml"
tap "no file of kinds/ is left out" silent left_out
tap "an embedded file is the file" round_trip "$top/kinds/objectmeta.yaml"
tap "odd characters survive" round_trip "$scratch/odd.yaml"
tap_end
