#!/bin/sh
# Writes the table of src/base/limits.h into docs/limits.md, between its two marker comments.
#
#   tools/limits_doc.sh            rewrites the table
#   tools/limits_doc.sh --check    only says whether it is up to date
set -eu
cd "$(dirname "$0")/.."
header=src/base/limits.h
page=docs/limits.md
begin='<!-- limits: begin -->'
end='<!-- limits: end -->'

# A line of the header is: X(NAME, number, "what it bounds") \
table() {
    awk '
    function with_commas(digits, out) {
        while (length(digits) > 3) {
            out = "," substr(digits, length(digits) - 2) out
            digits = substr(digits, 1, length(digits) - 3)
        }
        return digits out
    }
    BEGIN { print "| limit | value | what it bounds |\n|---|---:|---|" }
    /^#define VD_LIMITS\(X\)/ { inside = 1; next }
    !inside { next }
    /^ *X\([A-Z0-9_]+, *[0-9]+, *"[^"]+"\)( *\\)?$/ {
        name = value = what = $0
        sub(/^ *X\(/, "", name); sub(/,.*/, "", name)
        sub(/^[^,]*, */, "", value); sub(/,.*/, "", value)
        sub(/^[^"]*"/, "", what); sub(/".*/, "", what)
        printf "| `%s` | %s | %s |\n", name, with_commas(value), what
        if (!/\\$/) { complete = 1; exit }
        next
    }
    { printf "limits_doc.sh: cannot read line %d of the table: %s\n", NR, $0 > "/dev/stderr"; exit }
    END { exit !complete }' "$header"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
table >"$scratch/table"
if ! grep -q -x -e "$begin" "$page" || ! grep -q -x -e "$end" "$page"; then
    echo "limits_doc.sh: $page lacks the lines '$begin' and '$end'" >&2
    exit 1
fi
{
    sed "/^$begin\$/q" "$page"
    cat "$scratch/table"
    sed -n "/^$end\$/,\$p" "$page"
} >"$scratch/page"

if [ "${1:-}" = --check ]; then
    diff -u "$page" "$scratch/page" || {
        echo "$page differs from $header; run tools/limits_doc.sh" >&2
        exit 1
    }
else
    cat "$scratch/page" >"$page"
fi
