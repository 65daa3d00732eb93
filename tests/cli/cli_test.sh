#!/bin/sh
# The `vedette` program as people and scripts meet it: help, wrong usage, exit codes, and every
# store command on good data, on wrong input and beside a running writer.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
build=$(cd "$build" && pwd) # the tests change their folder
vedette=$build/vedette
tool=$build/tests/store_tool
writer=
trap 'if [ -n "$writer" ]; then kill -9 "$writer" 2>/dev/null; fi; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
unset NO_COLOR

# status WANT COMMAND...: what it prints goes to out and err; succeeds when its exit status is WANT.
status() {
    status_want=$1
    shift
    "$@" >"$scratch/out" 2>"$scratch/err"
    status_got=$?
    [ "$status_got" -eq "$status_want" ] && return 0
    echo "status $status_got instead of $status_want: $*"
    cat "$scratch/out" "$scratch/err"
    return 1
}

# contains FILE TEXT...: each text is in the file.
contains() {
    contains_file=$1
    shift
    for text; do
        grep -q -F -e "$text" "$contains_file" && continue
        echo "$contains_file does not say: $text"
        cat "$contains_file"
        return 1
    done
}

# says STATUS TEXT COMMAND...: one line on stderr, `vedette: ...TEXT...`, and nothing on stdout.
says() {
    says_status=$1
    says_text=$2
    shift 2
    status "$says_status" "$@" || return 1
    contains err "$says_text" && grep -q '^vedette: ' err && [ "$(wc -l <err)" -eq 1 ] &&
        [ ! -s out ] && return 0
    echo "not one sentence on stderr alone:"
    cat out err
    return 1
}

# shows TEXT COMMAND...: exit status 0, TEXT on stdout, nothing on stderr.
shows() {
    shows_text=$1
    shift
    status 0 "$@" && contains out "$shows_text" && [ ! -s err ]
}

# ---- help and usage ----

tap "no arguments show the help" shows "Commands:" "$vedette"
tap "--help lists the commands" shows "  store " "$vedette" --help
tap "--help documents the exit status" shows "  2  the command line is wrong" "$vedette" --help
tap "help X is X --help" shows "Usage: vedette store COMMAND" "$vedette" help store
tap "help of a sub-command" shows "--keep-events N" "$vedette" help store compact
tap "X --help wins over what is missing" shows "--to FILE" "$vedette" store backup --help
tap "--help wins over what is wrong" shows "--to FILE" "$vedette" store backup --nonsense --help
tap "-h is --help" shows "Usage: vedette store verify" "$vedette" store verify -h

every_command_has_help() {
    for command in backup compact init restore stats verify; do
        status 0 "$vedette" store $command --help &&
            contains out "Usage: vedette store $command" "--data DIR" "--output FORMAT" "--help" \
                "Exit status:" || return 1
        ! grep -q '.\{101\}' out || return 1
    done
}
tap "every store command has help" every_command_has_help

tap "version" shows "vedette $(cat "$top/VERSION") (SQLite 3." "$vedette" version
tap "--version" shows "vedette $(cat "$top/VERSION") (SQLite 3." "$vedette" --version
tap "version as JSON" shows "{\"version\":\"$(cat "$top/VERSION")\",\"sqlite\":\"3." \
    "$vedette" version --output json

tap "a near miss is suggested" says 2 "did you mean 'store'?" "$vedette" stroe
tap "a near miss in a group" says 2 "did you mean 'verify'?" "$vedette" store verfy
tap "no suggestion when nothing is near" says 2 "unknown command 'xyzzy'; run 'vedette --help'" \
    "$vedette" xyzzy
tap "a group without a command" says 2 "run 'vedette store --help'" "$vedette" store
tap "an unknown option" says 2 "unknown option '--dat' (did you mean '--data'?); run 'vedette \
store backup --help'" "$vedette" store backup --dat x
tap "a short option that is none" says 2 "unknown option '-x'" "$vedette" store stats -x
tap "a missing value" says 2 "'--data' misses its value DIR" "$vedette" store stats --data
tap "an empty value" says 2 "'--data' has an empty value" "$vedette" store stats --data=
tap "a missing option" says 2 "'--to FILE' is missing" "$vedette" store backup --data x
tap "an option twice" says 2 "'--data' is given twice" "$vedette" store stats --data x --data=y
tap "a value for a switch" says 2 "'--force' takes no value" \
    "$vedette" store backup --data x --to y --force=yes
tap "a surplus argument" says 2 "surplus argument 'y'" "$vedette" store stats --data x y
tap "a wrong number" says 2 "wants a number, not '-1'" \
    "$vedette" store compact --data x --floor -1
tap "a wrong duration" says 2 "wants a duration such as 1h30m" \
    "$vedette" store compact --data x --keep-age 30m1h
tap "a wrong output" says 2 "wants text or json, not 'xml'" \
    "$vedette" store stats --data x --output xml
tap "verify wants one of two" says 2 "either '--data DIR' or '--file FILE'" \
    "$vedette" store verify --data x --file y
tap "an unknown command has no help" says 2 "unknown command 'stroe' (did you mean 'store'?)" \
    "$vedette" stroe --help
tap "nor has one of a group" says 2 "unknown command 'verfy'" "$vedette" store verfy --help
tap "help of an unknown command" says 2 "unknown command 'verfy'" "$vedette" help store verfy

# ---- the data folder that is not given ----

# each_reads NAME COMMAND...: every command that works on a data folder says this name.
each_reads() {
    each_reads_name=$1
    shift
    for command in "store stats" "store verify" "store compact" "store backup --to never.db" \
        "token list" "token create --user ann" "token revoke --id x" "top" \
        "kubeconfig --user ann"; do
        # shellcheck disable=SC2086 # its words
        says 1 "there is no data folder $each_reads_name: give the one that the server uses with \
--data or VEDETTE_DATA" "$@" "$vedette" $command || return 1
    done
}
tap "every command has the server's default" each_reads vedette-data env
tap "every command has the server's variable" each_reads of-variable env VEDETTE_DATA=of-variable
tap "an empty variable is none" each_reads vedette-data env VEDETTE_DATA=
tap "restore has it too" says 1 "there is no log at no.db" env VEDETTE_DATA=of-variable \
    "$vedette" store restore --from no.db
every_help_says_it() {
    for command in "store stats" "store verify" "store compact" "store backup" "store restore" \
        "token list" "token create" "token revoke" "top" "kubeconfig"; do
        # shellcheck disable=SC2086 # its words
        status 0 "$vedette" $command --help && contains out "[vedette-data, or VEDETTE_DATA]" ||
            return 1
    done
}
tap "the help says so" every_help_says_it

# ---- colour and the terminal ----

# on_terminal COMMAND...: runs it with a terminal for stdout and stderr; what it shows goes to out.
on_terminal() { script -q -e -c "$*" /dev/null </dev/null >out 2>&1; }
bold=$(printf '\033[1m')
red=$(printf '\033[1;31m')
coloured() { TERM=xterm on_terminal "$vedette" --help && contains out "$bold"; }
coloured_error() {
    TERM=xterm on_terminal "$vedette" stroe
    contains out "${red}vedette:"
}
plain() {
    env "$@" script -q -e -c "$vedette --help" /dev/null </dev/null >out 2>&1
    contains out "Commands:" && ! grep -q -F "$(printf '\033')" out
}
# Where there are no pseudo-terminals, there is nothing to be seen on one.
if script -q -e -c true /dev/null </dev/null >/dev/null 2>&1; then
    tap "headings are bold on a terminal" coloured
    tap "errors are red on a terminal" coloured_error
    tap "NO_COLOR turns colour off" plain NO_COLOR=1 TERM=xterm
    tap "a dumb terminal gets none" plain TERM=dumb
fi
no_escapes() { "$vedette" --help | grep -c "$(printf '\033')" | grep -q '^0$'; }
tap "a pipe gets no colour" no_escapes
tap "a full output is an error" says 1 "could not write the output: No space left on device" \
    sh -c "exec '$vedette' --help >/dev/full"
# The reader ends only after it has closed its end, so that the writer must notice.
closed_pipe() {
    mkfifo pipe
    : <pipe &
    { wait $!; "$vedette" --help; } >pipe 2>err
    closed_status=$?
    rm pipe
    [ "$closed_status" -eq 1 ] && contains err "could not write the output: Broken pipe"
}
tap "a closed pipe is an error" closed_pipe

# ---- good data ----

newest=$("$tool" fill good 200)
tap "the test data is there" test "$newest" = 261
tap "verify finds nothing" shows "260 rows, 180 objects, revision 2..261, 0 problems" \
    "$vedette" store verify --data good
tap "verify --quick" shows ", 0 problems" "$vedette" store verify --data=good --quick
verified='"rows":260,"objects":180,"revisionFirst":2,"revision":261,"problems":0'
tap "verify as JSON" shows "{\"findings\":[],$verified}" \
    "$vedette" store verify --data good --output json

stats_text() {
    status 0 "$vedette" store stats --data good &&
        contains out "revision         261" "floor            0" "objects          180" \
            "window           260 events, the oldest" \
            "KIND                     OBJECTS     BODIES" "configmaps                   119"
}
tap "stats" stats_text
tap "stats as JSON" shows '"revision":261,"floor":0,"rows":260,"windowEvents":260' \
    "$vedette" store stats --data good --output json
if command -v python3 >/dev/null; then
    is_json() { "$@" | python3 -c 'import json, sys; json.load(sys.stdin)'; }
    tap "the JSON of stats is JSON" is_json "$vedette" store stats --data good --output json
    tap "the JSON of version is JSON" is_json "$vedette" version --output json
fi

tap "backup" shows "backed up to copy.db: revision 261, 260 rows, 180 objects, " \
    "$vedette" store backup --data good --to copy.db
alone() { [ "$(echo copy.db*)" = copy.db ] || { echo copy.db*; return 1; }; }
tap "the backup is one file" alone
tap "the backup can be checked" shows "revision 2..261, 0 problems" \
    "$vedette" store verify --file copy.db
tap "an existing backup is kept" says 1 "copy.db exists: name another file, or replace it with \
--force" "$vedette" store backup --data good --to copy.db
tap "unless it is forced" shows '"revision":261,"rows":260,"objects":180,"bytes":' \
    "$vedette" store backup --data good --to copy.db --force --output json
tap "a backup into a missing folder" says 1 "could not make nowhere/x.db.partial: No such file" \
    "$vedette" store backup --data good --to nowhere/x.db

# A file-size limit stands in for a full disk: the write fails, and nothing may stay behind.
no_room() {
    "$tool" fill large 1000
    (
        trap '' XFSZ
        ulimit -f 128 # blocks of 512 or of 1024 bytes, as the shell likes; the log has 212 KiB
        status 1 "$vedette" store backup --data large --to small.db
    ) || return 1
    contains err "small.db.partial" && [ "$(echo small.db*)" = 'small.db*' ]
}
tap "a backup without room leaves nothing" no_room

tap "restore" shows "restored the state of revision 261: 180 objects" \
    "$vedette" store restore --data back --from copy.db
tap "the restored log is sound" shows "180 rows, 180 objects, revision 2.." \
    "$vedette" store verify --data back
restored_goes_on() {
    "$tool" probe back "$newest" >out || return 1
    contains out ", objects 180, cursor expired, wrote " || return 1
    was=$(sed 's/^revision \([0-9]*\),.*/\1/' out)
    wrote=$(sed 's/.*wrote //' out)
    [ "$was" -ge $((newest + 1099511627776)) ] && [ "$wrote" -eq $((was + 1)) ]
}
tap "the restored log goes on, and old cursors are expired" restored_goes_on
tap "a second restore is refused" says 1 "back has a log already: restore into another folder" \
    "$vedette" store restore --data back --from copy.db
tap "restore as JSON" shows '{"backupRevision":261,"revision":' \
    "$vedette" store restore --data again --from copy.db --output json

compacts() {
    status 0 "$vedette" store compact --data good --keep-events 40 &&
        contains out "before floor 0, 260 rows" "after  floor 221, " &&
        shows "0 problems" "$vedette" store verify --data good &&
        shows '"windowEvents":40' "$vedette" store stats --data good --output json
}
tap "compact keeps so many events" compacts
tap "compact to a floor" shows '"after":{"floor":250,' \
    "$vedette" store compact --data good --floor 250 --output json
tap "compact keeps what is young" shows "after  floor 250, " \
    "$vedette" store compact --data good --keep-age 1h30m
tap "compact by age" shows "after  floor 260, " "$vedette" store compact --data good --keep-age 0s
tap "compact by the defaults" shows "after  floor 260, " "$vedette" store compact --data good
tap "objects outlive compaction" shows "180 rows, 180 objects, revision 2..261, 0 problems" \
    "$vedette" store verify --data good

# ---- wrong data ----

# each_refuses TEXT ARGUMENT...: verify, stats, backup and compact all say so.
each_refuses() {
    each_text=$1
    says 1 "$each_text" "$vedette" store verify --data "$2" &&
        says 1 "$each_text" "$vedette" store stats --data "$2" &&
        says 1 "$each_text" "$vedette" store backup --data "$2" --to never.db &&
        says 1 "$each_text" "$vedette" store compact --data "$2" && [ ! -e never.db ]
}
tap "a missing data folder" each_refuses "there is no data folder nowhere" nowhere
tap "a missing folder is not made" test ! -e nowhere
mkdir vacant
tap "a folder without a log" each_refuses "there is no log vacant/log.db" vacant
tap "a file for a folder" each_refuses "copy.db is not a folder" copy.db
mkdir text && yes "not a database" | head -n 1000 >text/log.db
tap "a file that is no database" each_refuses "text/log.db is not a Vedette log" text
mkdir foreign && "$tool" sql foreign/log.db "CREATE TABLE t(x)"
tap "another program's database" each_refuses "database of another program" foreign
mkdir empty && : >empty/log.db
tap "an empty log" says 1 "log.db is empty" "$vedette" store stats --data empty
mkdir newer && cp copy.db newer/log.db && "$tool" sql newer/log.db "PRAGMA user_version=99"
tap "a newer format" each_refuses "newer Vedette (format 99, this one knows up to 1)" newer
tap "a missing backup" says 1 "there is no log at no.db" \
    "$vedette" store restore --data new --from no.db
tap "a backup that is none" says 1 "text/log.db is not a Vedette log" \
    "$vedette" store restore --data new --from text/log.db
tap "a failed restore makes no folder" test ! -e new
if [ "$(id -u)" -ne 0 ]; then
    mkdir closed && cp copy.db closed/log.db && chmod 000 closed/log.db
    tap "a log that may not be read" each_refuses "ermission denied" closed
fi

# ---- damage ----

"$tool" fill damaged 30 >/dev/null
"$tool" patch damaged/log.db value-of-12-end value-of-99-end
found_body() {
    status 1 "$vedette" store verify --data damaged &&
        contains out "widgets.example.com default/object-12: its body fails its checksum" \
            ", 1 problem"
}
tap "a damaged body is named" found_body
found_body_json() {
    status 1 "$vedette" store verify --data damaged --output json &&
        contains out '"type":"body","revision":' '"kind":"widgets.example.com"' \
            '"namespace":"default","name":"object-12"' '"problems":1}'
}
tap "a damaged body as JSON" found_body_json
tap "a damaged log is not backed up" says 1 "the log in damaged is damaged and was not backed up: \
1 problem found, the first: revision" "$vedette" store backup --data damaged --to never.db
"$tool" sql damaged/log.db "UPDATE log SET name = 'other' WHERE revision = 5"
found_head() {
    status 1 "$vedette" store verify --data damaged &&
        contains out "revision 5: its head fails its checksum" "object-12: its body" ", 2 problems"
}
tap "a damaged head is named, and what is behind it too" found_head
cp copy.db broken.db
"$tool" sql broken.db "DELETE FROM log WHERE revision = 100"
found_gap() {
    status 1 "$vedette" store verify --file broken.db &&
        contains out "revisions 100 to 100 of the window are missing"
}
tap "a missing row is found" found_gap
tap "a damaged backup is not restored" says 1 "the backup is damaged and was not restored" \
    "$vedette" store restore --data never --from broken.db
tap "nor half of it" test ! -e never/log.db

# ---- beside a running writer ----

"$tool" run busy >ready &
writer=$!
deadline=$(($(date +%s) + 60))
until grep -q ready ready || [ "$(date +%s)" -gt $deadline ]; do sleep 0.05; done
tap "the writer runs" grep -q ready ready
tap "verify beside a writer" shows ", 0 problems" "$vedette" store verify --data busy
tap "stats beside a writer" shows "configmaps" "$vedette" store stats --data busy
backups_beside() {
    for round in 1 2 3; do
        status 0 "$vedette" store backup --data busy --to "busy-$round.db" &&
            shows ", 0 problems" "$vedette" store verify --file "busy-$round.db" || return 1
    done
    # It wrote on meanwhile: the third has more than the first.
    [ "$("$vedette" store verify --file busy-3.db | sed 's/.*\.\.\([0-9]*\),.*/\1/')" -gt \
        "$("$vedette" store verify --file busy-1.db | sed 's/.*\.\.\([0-9]*\),.*/\1/')" ]
}
tap "backups beside a writer" backups_beside
tap "compact names the server and says that it compacts itself" says 1 "a server compacts by \
itself: the data folder busy is in use by process $writer" "$vedette" store compact --data busy
tap "restore into a server's folder" says 1 "in use by process $writer" \
    "$vedette" store restore --data busy --from copy.db
kill -9 "$writer"
wait "$writer" 2>/dev/null
writer=
tap "verify after a crash" shows ", 0 problems" "$vedette" store verify --data busy
tap "a backup after a crash" shows "backed up to crashed.db" \
    "$vedette" store backup --data busy --to crashed.db
tap "compact after a crash" shows "after  floor " \
    "$vedette" store compact --data busy --keep-events 5
tap_end
