#!/bin/sh
# Writes a C file that holds the files as constant texts: the table vd_builtin_files of
# src/kinds/builtin_files.h. The build calls it.
#
#   tools/embed.sh OUTPUT.c FILE...
set -eu
output=${1:?usage: tools/embed.sh OUTPUT.c FILE...}
shift
LC_ALL=C awk '
function base_name(path) { sub(/.*\//, "", path); return path }
BEGIN { print "/* Made by tools/embed.sh. */\n#include \"kinds/builtin_files.h\"" }
FNR == 1 {
    if (count) print "    \"\";"
    names[count++] = base_name(FILENAME)
    printf "\nstatic const char text_%d[] =\n", count - 1
}
{
    gsub(/[\\"?]/, "\\\\&") # a "?" too: two of them might be a trigraph
    printf "    \"%s\\n\"\n", $0
}
END {
    print "    \"\";\n\nconst struct vd_builtin_file vd_builtin_files[] = {"
    for (i = 0; i < count; i++)
        printf "    {\"%s\", {text_%d, sizeof text_%d - 1}},\n", names[i], i, i
    printf "};\n\nconst size_t vd_builtin_file_count = %d;\n", count
}' "$@" >"$output"
