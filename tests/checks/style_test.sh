#!/bin/sh
# The house style, as far as a small script can see it. clang-format has its own target (make lint),
# since its versions differ.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/tap.sh"

# Tables whose lines may be long, between `clang-format off` and `on`.
wide_tables='src/base/limits.h src/kube/openapi/schema.c'

# texts ROOT: the sources, named from the root. Corpora and built things are none.
texts() {
    (
        cd "$1" || exit
        find src include cmd tests bench tools \( -name '*.[ch]' -o -name '*.sh' \) 2>/dev/null |
            LC_ALL=C sort
    )
}

# line_complaints ROOT: what single lines and functions do wrong.
line_complaints() {
    (
        cd "$1" || exit
        # shellcheck disable=SC2016 # the program is awk's
        # A column is a character: UTF-8's continuation bytes are taken out before counting.
        texts . | LC_ALL=C xargs awk -v wide_tables="$wide_tables" '
        function complain(what) { printf "%s:%d: %s\n", FILENAME, FNR, what }
        BEGIN {
            count = split(wide_tables, names, " ")
            for (i = 1; i <= count; i++) wide[names[i]] = 1
        }
        FNR == 1 { in_table = 0; opened = 0; is_c = FILENAME ~ /\.[ch]$/ }
        FNR == 1 && FILENAME ~ /^src\/.*\.c$/ && !/^\/\*/ {
            complain("a .c file opens with a comment")
        }
        FNR == 801 { complain("the file has more than 800 lines; look for a seam") }
        /clang-format off/ { in_table = FILENAME in wide }
        /clang-format on/ { in_table = 0 }
        { text = $0; gsub(/[\200-\277]/, "", text) }
        length(text) > 100 && !in_table { complain("longer than 100 columns") }
        /\t/ { complain("a tab") }
        /[ \t\r]$/ { complain("a blank at the end of the line") }
        /(^|[^A-Za-z])(TO[D]O|FIX[M]E|X[X]X)([^A-Za-z]|$)/ {
            complain("unfinished; finish it, or say why it can wait")
        }
        tolower($0) ~ /(^|[^a-z])for[ ]now([^a-z]|$)/ {
            complain("unfinished; say what it is, not what it will be")
        }
        is_c && /^\{$/ { opened = FNR }
        is_c && /^\}/ && opened {
            most = FILENAME ~ /^tests\// ? 120 : 70 # a test may hold its table of cases
            if (FNR - opened + 1 > most)
                complain("the function that ends here has more than " most " lines")
            opened = 0
        }'
    )
}

# name_complaints ROOT: files that say nothing by their name.
name_complaints() {
    texts "$1" | grep -E '(^|[/_])(utils?|common|misc|helpers?)(_test)?\.[a-z]+$' |
        sed 's/$/: name a file for the noun that it holds/'
}

# build_complaints ROOT: sources that no meson.build mentions, so that nobody would miss them.
build_complaints() {
    (
        cd "$1" || exit
        find src cmd bench tests/unit tests/fuzz -name '*.c' 2>/dev/null | while read -r file; do
            name=$(basename "$file" .c)
            list=$(dirname "$file")/meson.build
            case $file in
            *_test.c | *_fuzz.c) wanted="'${name%_*}'" ;;
            tests/*) continue ;; # part of some test, or nothing is lost
            bench/*) wanted="'$name" ;;
            *) wanted="'$name.c'" ;;
            esac
            grep -q -F "$wanted" "$list" 2>/dev/null || echo "$file: not in $list"
        done
    )
}

# mode_complaints ROOT: scripts that cannot be run by their name.
mode_complaints() {
    (
        cd "$1" && find tests -name '*_test.sh' ! -perm -u+x | sed 's/$/: make it executable/'
    )
}

# judged CHECK FILE TEXT COMPLAINT: of a tree with this one file the check says this, or nothing
# when the complaint is empty.
judged() {
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree/$(dirname "$2")"
    printf '%s\n' "$3" >"$scratch/tree/$2"
    if [ -z "$4" ]; then
        silent "$1" "$scratch/tree"
    else
        complains "$4" "$1" "$scratch/tree"
    fi
}

# function_of N: a C function whose body has N lines between its braces.
function_of() {
    printf '/* x */\nvoid f(void)\n{\n'
    yes '    g();' | head -n "$1"
    printf '}\n'
}

# repeated N TEXT: the text N times over.
repeated() { awk -v n="$1" -v text="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s", text }'; }

tap "lines and functions" silent line_complaints "$top"
tap "file names" silent name_complaints "$top"
tap "no source is left out of the build" silent build_complaints "$top"
tap "test scripts can be run" silent mode_complaints "$top"
tap "some sources were read" test "$(texts "$top" | grep -c '\.c$')" -gt 0

tap "100 columns are fine" judged line_complaints src/a.h "$(repeated 100 x)" ''
tap "101 columns are refused" judged line_complaints src/a.h "$(repeated 101 x)" 'src/a.h:1: longer'
tap "columns are characters, not bytes" judged line_complaints src/a.h "$(repeated 100 'é')" ''
wide=$(printf '/* clang-format off */\n%s\n/* clang-format on */' "$(repeated 101 x)")
tap "the table of limits may be wide" judged line_complaints src/base/limits.h "$wide" ''
tap "another table may not" judged line_complaints src/a.h "$wide" 'src/a.h:2: longer'
tap "a tab is refused" judged line_complaints src/a.h "$(printf 'a\tb')" 'a tab'
tap "a blank at the end is refused" judged line_complaints src/a.h 'int x; ' 'a blank at the end'
for word in TO""DO FIX""ME X""XX 'for'' now'; do
    tap "\"$word\" is refused" judged line_complaints src/a.h "/* $word */" 'unfinished'
done
tap "a template for mkdtemp is fine" judged line_complaints src/a.h '"/tmp/a.XXXXXX"' ''
tap "a function of 70 lines is fine" judged line_complaints src/a.c "$(function_of 68)" ''
tap "a function of 71 lines is refused" judged line_complaints src/a.c "$(function_of 69)" \
    'src/a.c:73: the function that ends here'
tap "800 lines are fine" judged line_complaints src/a.h "$(repeated 800 'x
')" ''
tap "801 lines are refused" judged line_complaints src/a.h "$(repeated 801 'x
')" 'more than 800 lines'
tap "a .c file without a comment in front is refused" judged line_complaints src/a.c 'int x;' \
    'opens with a comment'
tap "a file named utils is refused" judged name_complaints src/base/utils.c '' 'name a file'
tap "a file named after its noun is fine" judged name_complaints src/base/commonwealth.c '' ''
tap "a source that is not built is refused" judged build_complaints src/base/a.c '' \
    'src/base/a.c: not in src/base/meson.build'
tap "a test that is not built is refused" judged build_complaints tests/unit/base/a_test.c '' \
    'tests/unit/base/a_test.c: not in'
tap "a script that cannot be run is refused" judged mode_complaints tests/a_test.sh '' \
    'tests/a_test.sh: make it executable'
tap_end
