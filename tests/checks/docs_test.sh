#!/bin/sh
# What the documents name exists: files, make targets, C names, tests, links. And the tour of the
# README does what it shows.
#
# A name counts when it stands in code: between backticks or in a fenced block. `<word>` and `*` in
# a path stand for anything, and paths into build folders and data folders are left alone. Files of
# the demo repository are those of examples/catalog.
# shellcheck disable=SC2016 # the dollars are awk's, the backticks Markdown's
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/tap.sh"
build=$(cd "$build" && pwd)

# documents ROOT: the documents, named from the root.
documents() {
    (
        cd "$1" || exit
        find . -maxdepth 1 -name '*.md'
        find docs -name '*.md' 2>/dev/null
    ) | sed 's,^\./,,' | LC_ALL=C sort
}

# code ROOT: the code in the documents, a piece a line: FILE:LINE, a tab, the text.
code() {
    (
        cd "$1" || exit
        documents . | xargs awk '
        FNR == 1 { fenced = 0 }
        /^```/ { fenced = !fenced; next }
        fenced { print FILENAME ":" FNR "\t" $0; next }
        {
            count = split($0, part, "`")
            for (i = 2; i < count; i += 2) print FILENAME ":" FNR "\t" part[i]
        }'
    )
}

# tree ROOT: every file and folder that is not built.
tree() {
    (
        cd "$1" || exit
        find . \( -name .git -o -path './build*' \) -prune -o -print
    ) | sed 's,^\./,,'
}

# A path is what starts with a name at the top of the tree, or ends like a source.
path_complaints() {
    tree "$1" >"$scratch/tree.list"
    code "$1" | awk -F '\t' -v list="$scratch/tree.list" '
    function exists(path, pattern, i) {
        sub(/\/$/, "", path)
        if (path in known || ("src/" path) in known || ("examples/catalog/" path) in known) return 1
        pattern = path
        gsub(/\*\*|<[a-z]*>/, "*", pattern)
        gsub(/\./, "[.]", pattern)
        gsub(/\*+/, "[^/]*", pattern)
        pattern = (path ~ /\// ? "^(src/)?" : "(^|/)") pattern "$"
        for (i = 1; i <= count; i++) if (entry[i] ~ pattern) return 1
        return 0
    }
    BEGIN {
        while ((getline path < list) > 0) {
            entry[++count] = path
            known[path] = 1
            if (path !~ /\//) top[path] = 1
        }
    }
    {
        words = split($2, word, /[ ,;:()"'"'"'=#]+/)
        for (w = 1; w <= words; w++) {
            path = word[w]
            if (path !~ /^[A-Za-z0-9_.<>*\/-]+$/ || path ~ /^(\/|build|vedette-data)/) continue
            first = path
            sub(/\/.*/, "", first)
            is_path = path ~ /\// && (first in top)
            if (is_path || path ~ /[A-Za-z0-9_>*]\.(c|h|sh|md|js|build)$/)
                if (!exists(path)) print $1 ": there is no " path
        }
    }'
}

target_complaints() {
    code "$1" | awk -F '\t' -v makefile="$1/Makefile" '
    BEGIN { while ((getline line < makefile) > 0)
        if (match(line, /^[a-z-]+:/)) known[substr(line, 1, RLENGTH - 1)] = 1 }
    {
        words = split($2, word, / +/)
        for (w = 1; w <= words; w++) {
            if (word[w] != "make") continue
            for (w++; w <= words && word[w] ~ /^[a-z-]+$/; w++)
                if (!(word[w] in known)) print $1 ": there is no target " word[w]
        }
    }'
}

# name_complaints ROOT: vd_ and VD_ names that are in no source.
name_complaints() {
    (
        cd "$1" || exit
        grep -r -o -h -E '(vd|VD)_[A-Za-z0-9_]+' src cmd | LC_ALL=C sort -u >"$scratch/names"
        code . | awk -F '\t' -v list="$scratch/names" '
        BEGIN { while ((getline name < list) > 0) known[name] = 1 }
        {
            while (match($2, /(vd|VD)_[A-Za-z0-9_]+/)) {
                name = substr($2, RSTART, RLENGTH)
                if (!(name in known)) print $1 ": there is no " name
                $2 = substr($2, RSTART + RLENGTH)
            }
        }'
    )
}

# link_complaints ROOT: relative links to nothing, and to headings that are not there.
link_complaints() {
    (
        cd "$1" || exit
        documents . | xargs awk '
        function slug(heading) {
            heading = tolower(heading)
            gsub(/[^a-z0-9 _-]/, "", heading)
            gsub(/ /, "-", heading)
            return heading
        }
        FNR == 1 { fenced = 0 }
        /^```/ { fenced = !fenced }
        fenced { next }
        /^#+ / { sub(/^#+ /, ""); anchor[FILENAME "#" slug($0)] = 1 }
        {
            while (match($0, /\]\([^)]*\)/)) {
                target = substr($0, RSTART + 2, RLENGTH - 3)
                $0 = substr($0, RSTART + RLENGTH)
                if (target !~ /^[a-z]+:/) {
                    link[++count] = target
                    where[count] = FILENAME ":" FNR
                    from[count] = FILENAME
                }
            }
        }
        END {
            for (i = 1; i <= count; i++) {
                path = link[i]
                sub(/#.*/, "", path)
                folder = from[i]
                if (!sub(/[^\/]*$/, "", folder)) folder = ""
                path = path == "" ? from[i] : folder path
                if ((getline line < path) < 0) print where[i] ": a dead link, " link[i]
                else if (link[i] ~ /#/ && path ~ /\.md$/ &&
                         !((path substr(link[i], index(link[i], "#"))) in anchor))
                    print where[i] ": no such heading, " link[i]
                close(path)
            }
        }'
    )
}

# test_complaints ROOT: rows of docs/guarantees.md that name a test which their file does not have.
test_complaints() {
    (
        cd "$1" || exit
        awk -F '`' '/^\| `tests\// {
            for (i = 4; i < NF; i += 2) print $2 "\t" $i
        }' docs/guarantees.md | while IFS="$(printf '\t')" read -r file name; do
            case $file in
            *.c) grep -q -E "^(static void|size_t) $name\(" "$file" ;;
            *) grep -q -F -e "$name" "$file" ;;
            esac 2>/dev/null || echo "docs/guarantees.md: $file has no $name"
        done
    )
}

# host: what make run starts, for the commands of a tour, in the current folder. It lasts until the
# tour ends. git has a name to commit with, and no settings of this machine.
server=
host() {
    [ -n "$server" ] && return 0
    ln -s "$top/examples" examples
    : >server.out
    VEDETTE_LISTEN=127.0.0.1:0 VEDETTE_TLS_LISTEN=127.0.0.1:0 "$top/tools/run.sh" build/vedette \
        >server.out 2>server.err &
    server=$!
    echo "$server" >"$scratch/server"
    for _ in $(seq 300); do
        if grep -q '^and meanwhile' server.out || ! kill -0 "$server"; then break; fi
        sleep 0.1
    done
    http=$(sed -n 's/^ready .*\(http:[^ ]*\)$/\1/p' server.out)
    KUBECONFIG=$PWD/vedette-data/admin.kubeconfig
    GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
    GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=ann@example.com
    GIT_COMMITTER_NAME=Ann GIT_COMMITTER_EMAIL=ann@example.com
    export KUBECONFIG GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL
    export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
}
dismiss() {
    if [ -e "$scratch/server" ]; then kill "$(cat "$scratch/server")"; fi
    rm -f "$scratch/server"
}
trap 'dismiss; rm -rf "$scratch"' EXIT

# tour FILE: runs the commands of the fenced blocks that start with one, `$ command`, and compares
# what they print with what stands below them; `...` is anything. `build` is $build, and the plain
# door, which the documents call by its usual address, is a free one.
tour() {
    # A block's end ends what its last command prints: there the command is nothing.
    awk '/^```/ { if (on) print "$ :"; on = 0; fenced = first = !fenced; next }
        fenced && first { on = /^[$] /; first = 0 }
        on' "$1" | grep -n '' | sed 's/:/ /' >"$scratch/lines"
    rm -rf "$scratch/tour"
    mkdir "$scratch/tour"
    ln -s "$build" "$scratch/tour/build"
    (
        cd "$scratch/tour" || exit
        awk '$2 == "$" { print $1 }' "$scratch/lines" | while read -r at; do
            command=$(sed -n "s/^$at \\$ //p" "$scratch/lines")
            awk -v at="$at" '$1 <= at { next } $2 == "$" { exit } { sub(/^[0-9]* ?/, ""); print }' \
                "$scratch/lines" >"$scratch/shown"
            case $command in
            make\ *) continue ;;
            *kubectl\ *) if command -v kubectl >/dev/null; then host; else continue; fi ;;
            *vedette\ * | curl\ * | git\ *) host ;;
            esac
            printf '%s\n' "$command" | sed "s,http://127\.0\.0\.1:8080,${http:-}," \
                >"$scratch/command"
            echo "$command" >>"$scratch/toured"
            got=$(sh "$scratch/command" 2>&1 </dev/null) || echo "failed: $command"
            # git pads what a server says with blanks.
            got=$(printf '%s\n' "$got" |
                sed "s,${http:-no door},http://127.0.0.1:8080,; s/ *\$//")
            pattern=$(sed 's/[][\\*?]/\\&/g; s/\.\.\./*/g' "$scratch/shown")
            # shellcheck disable=SC2254 # the pattern is one
            case $got in
            $pattern) ;;
            *) printf '%s\nprints\n%s\nnot\n%s\n' "$command" "$got" "$pattern" ;;
            esac
        done
    )
    dismiss
    # What a tour makes in the clone, secrets among it, must be what git ignores.
    (
        cd "$scratch/tour" || exit
        for made in * .[!.]*; do
            case $made in
            build | examples | server.out | server.err | '*' | '.[!.]*' | vedette-data*) ;;
            *) echo "$1 leaves $made behind" ;;
            esac
        done
    )
}

# judged CHECK TEXT COMPLAINT: of a small tree whose README has this text the check says this, or
# nothing when the complaint is empty.
judged() {
    small=$scratch/small
    rm -rf "$small"
    mkdir -p "$small/src/base" "$small/tests/unit" "$small/docs" "$small/cmd"
    echo 'int vd_real(void);' >"$small/src/base/real.h"
    printf 'test:\n\techo\nall-of-it: test\n' >"$small/Makefile"
    printf 'static void it_is_so(void **state)\n' >"$small/tests/unit/real_test.c"
    printf '# One\n\n## Two words, `code`\n' >"$small/docs/real.md"
    printf '%s\n' "$2" >"$small/README.md"
    if [ "$1" = test_complaints ]; then mv "$small/README.md" "$small/docs/guarantees.md"; fi
    if [ -z "$3" ]; then
        silent "$1" "$small"
    else
        complains "$3" "$1" "$small"
    fi
}

tap "every file that is named exists" silent path_complaints "$top"
tap "every make target that is named exists" silent target_complaints "$top"
tap "every C name that is named exists" silent name_complaints "$top"
tap "every link leads somewhere" silent link_complaints "$top"
tap "every test that proves a guarantee exists" silent test_complaints "$top"
tap "the tour of the README does what it shows" silent tour "$top/README.md"
tap "the first steps are as they are shown" silent tour "$top/docs/first-steps.md"
tap "documents were read" test "$(documents "$top" | wc -l)" -ge 6
tap "commands of the tour were run" grep -q 'vedette store backup' "$scratch/toured"
with_kubectl() { ! command -v kubectl >/dev/null || grep -q 'kubectl patch' "$scratch/toured"; }
tap "those with kubectl too, if there is one" with_kubectl
tap "those with git" grep -q 'git -C .* push' "$scratch/toured"
tap "those of the first steps too" grep -q 'curl -s http://127.0.0.1:8080/' "$scratch/toured"

tap "a file is fine" judged path_complaints 'see `src/base/real.h` and `base/real.h`' ''
tap "a bare file name is fine" judged path_complaints '`real.h`' ''
tap "a folder is fine" judged path_complaints '`src/base/` and `tests/unit`' ''
tap "placeholders are fine" judged path_complaints \
    '`tests/unit/<file>_test.c`, `tests/**/*_test.c`' ''
tap "what is built is left alone" judged path_complaints '`build/vedette`' ''
tap "what is no path is left alone" judged path_complaints '`namespace/name`, `.c`, `a=b`' ''
tap "a missing file is noticed" judged path_complaints 'x `src/base/gone.h`' \
    'README.md:1: there is no src/base/gone.h'
tap "a missing bare name is noticed" judged path_complaints '`gone.c`' 'there is no gone.c'
tap "a missing folder is noticed" judged path_complaints '`src/gone/`' 'there is no src/gone/'
tap "a placeholder without a match is noticed" judged path_complaints '`src/<x>/gone.h`' \
    'there is no src/<x>/gone.h'
tap "a fenced block is read" judged path_complaints "$(printf '```\ncat src/gone.h\n```')" \
    'README.md:2: there is no src/gone.h'
tap "a target is fine" judged target_complaints '`make test all-of-it N=1`, make believe' ''
tap "a missing target is noticed" judged target_complaints '`make test gone`' 'no target gone'
tap "a C name is fine" judged name_complaints '`vd_real()`, `vd_`' ''
tap "a missing C name is noticed" judged name_complaints '`struct vd_gone *`' 'there is no vd_gone'
tap "links are fine" judged link_complaints \
    '# Here
[a](docs/real.md) [b](docs/real.md#two-words-code) [c](#here) [d](https://example.com/x)' ''
tap "a dead link is noticed" judged link_complaints '[a](docs/gone.md)' 'a dead link, docs/gone.md'
tap "a missing heading is noticed" judged link_complaints '[a](docs/real.md#three)' \
    'no such heading, docs/real.md#three'
tap "a test is fine" judged test_complaints '| `tests/unit/real_test.c` | `it_is_so` |' ''
tap "a missing test is noticed" judged test_complaints \
    '| `tests/unit/real_test.c` | `it_is_so`, `it_is` |' 'tests/unit/real_test.c has no it_is'
tap "a missing test file is noticed" judged test_complaints '| `tests/gone.c` | `it_is_so` |' \
    'tests/gone.c has no it_is_so'
# toured TEXT: the tour of a document with this fenced block.
toured() {
    printf '```\n%s\n```\n' "$1" >"$scratch/small.md"
    tour "$scratch/small.md"
}
tap "a tour that is right" silent toured "$(printf '$ echo one; echo two\none\nt...\n$ true')"
tap "a tour that prints something else" complains 'echo one' toured "$(printf '$ echo one\ntwo')"
tap "a tour that leaves something" complains 'leaves ann.token behind' toured '$ : >ann.token'
ignored() { grep -q -x '/vedette-data\*' "$top/.gitignore"; }
tap "what a tour may leave is ignored" ignored
tap "a tour that fails" complains 'failed: false' toured '$ false'
tap_end
