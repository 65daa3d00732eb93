#!/bin/sh
# The manual pages, the help texts and the documents speak of the same commands, options and
# settings.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
vedette=$(cd "$build" && pwd)/vedette
cd "$scratch" || exit 1

# children WORD...: the commands below this one, one a line.
children() { "$vedette" help "$@" | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  .*/\1/p'; }

# options WORD...: those of its help, one a line.
options() { "$vedette" help "$@" | sed -n 's/^  \(--[a-z0-9-]*\).*/\1/p' | grep -v -x -e --help; }

# page WORD: the manual page of a command and of those below it, without roff's dashes.
page() {
    page_file=$top/docs/man/vedette-$1.1
    [ -e "$page_file" ] || page_file=$top/docs/man/vedette-$1.8
    [ -e "$page_file" ] || page_file=$top/docs/man/vedette.1
    sed 's/\\-/-/g' "$page_file"
}

# Every setting as an option: that of the manual page, which `serve_test.sh` compares to the
# program's.
sed 's/\\-/-/g' "$top/docs/man/vedette.yaml.5" | awk '/^\.SH/ { on = /SETTINGS/ }
    on && before == ".TP" { gsub(/"/, ""); sub(/^\.BR? /, ""); print "--" $1 } { before = $0 }' |
    tr . - >settings

# leaves: the commands that run, one a line.
leaves() {
    for leaves_first in $(children); do
        leaves_below=$(children "$leaves_first")
        [ -n "$leaves_below" ] || echo "$leaves_first"
        for leaves_second in $leaves_below; do
            echo "$leaves_first $leaves_second"
        done
    done
}
leaves >leaf.list
some() { [ "$(wc -l <leaf.list)" -gt 10 ] && [ "$(wc -l <settings)" -gt 30 ]; }
tap "there are commands and settings" some

# named WORD...: the command's page names it, and each of its options that is no setting.
named() {
    page "$1" >page.text
    grep -q -E "vedette $*( |\$)|^\.B $*\$" page.text || { echo "no page of: $*"; return 1; }
    for named_option in $(options "$@" | grep -v -x -F -f settings); do
        grep -q -E -e "$named_option( |\"|\$|,)" page.text && continue
        echo "the page of '$*' does not name $named_option"
        return 1
    done
}
while read -r leaf; do
    # shellcheck disable=SC2086 # its words
    tap "the manual of: $leaf" named $leaf
done <leaf.list

# What a page calls an option is one of its commands'.
known() {
    for known_page in "$top"/docs/man/*; do
        known_word=$(basename "$known_page" | sed -n 's/^vedette-\([a-z]*\)\..*/\1/p')
        {
            if [ -n "$known_word" ]; then
                sed -n "s/^$known_word\$/&/p; s/^$known_word /&/p" leaf.list
            else
                cat leaf.list
            fi | while read -r leaf; do
                # shellcheck disable=SC2086 # its words
                options $leaf
            done
            printf '%s\n' --help --version
        } >known.options
        # `--name value` is how options are written; a page may name those of its neighbours.
        sed 's/\\-/-/g' "$known_page" | grep -o -E -e '(^|[^a-z-])--[a-z][a-z0-9-]*' |
            grep -o -e '--.*' | sort -u | grep -v -x -F -f known.options -f settings -e --name |
            grep -v -x -e --config >unknown.options
        [ ! -s unknown.options ] || { echo "$known_page:"; cat unknown.options; return 1; }
    done
}
tap "the manual names no option that is none" known

# A line of a document that calls the program.
called() {
    while read -r leaf; do
        # shellcheck disable=SC2086 # its words
        options $leaf
    done <leaf.list | sort -u >all.options
    printf '%s\n' --help --version >>all.options
    called_words='serve|config|store|token|kubeconfig|lint|repo|top|version'
    cat "$top"/README.md "$top"/docs/*.md "$top"/docs/runbooks/*.md |
        grep -E "(^|[\`/ ])vedette ($called_words) " |
        sed -E "s#.*[\`/ ]vedette ($called_words) ##" |
        sed 's/[`|;&#].*//' | grep -o -E -e '--[a-z][a-z0-9-]*' | sort -u >called.options
    [ "$(wc -l <called.options)" -gt 3 ] || { cat called.options; return 1; }
    grep -v -x -F -f all.options called.options >unknown.options
    [ ! -s unknown.options ] || { cat unknown.options; return 1; }
}
tap "the documents call the program with options that it has" called
tap_end
