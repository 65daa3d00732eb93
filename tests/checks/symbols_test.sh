#!/bin/sh
# What the library's object files define: global names start with vd_, and nothing is writable but
# what the house allows.
#
# Writable means .data, .bss and their thread-local kin, function-local statics included. Constant
# tables of pointers, which the linker fills in (.data.rel.ro), are constant.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/tap.sh"

# What may be writable, as file or file:symbol: the logger and the metrics; what is made
# once and then only read (the CRC tables, the hash's secret); and, in test builds, the failpoints'
# counter. A new entry needs a reason that its reviewer accepts.
stateful='src/base/log.c src/base/metrics.c src/request/meter.c src/server/metrics.c
    src/api/stream_meter.c
    src/auth/audit_log.c:dropped src/auth/audit_log.c:errors src/auth/audit_log.c:events
    src/auth/access_rules.c:failures_total src/auth/access_rules.c:left_out_now
    src/auth/issuers.c:keys_now src/auth/issuers.c:refreshes
    src/watch/informer.c:damaged_total src/watch/informer.c:lists_total
    src/api/converter_call.c:by_definition src/api/converter_call.c:durations
    src/api/converter_call.c:requests src/net/account_report.c
    src/git/follow_metrics.c src/git/meter.c src/git/push_metrics.c src/net/process_report.c
    src/base/crc32c.c:tables src/base/crc32c.c:tables_once
    src/base/hash_map.c:secret src/base/hash_map.c:secret_once
    src/base/failpoint.c:passed'

# complaints ARCHIVE [ALLOWED...]: a line for each symbol that may not be.
complaints() {
    archive=$1
    shift
    LC_ALL=C nm -f sysv "$archive" | awk -F '|' -v stateful="$*" '
        BEGIN {
            count = split(stateful, names, " ")
            for (i = 1; i <= count; i++) allowed[names[i]] = 1
        }
        /DW\.ref\./ { next } # what the C++ compiler adds for a library it links with
        /^Symbols from / { # ...[some/folder/src_base_log.c.o]:
            file = $0
            sub(/\]:$/, "", file)
            sub(/.*[\/\[]/, "", file)
            sub(/\.o$/, "", file)
            source = file
            if (source ~ /^src_[a-z]+_/) { sub(/_/, "/", source); sub(/_/, "/", source) }
            next
        }
        NF < 7 { next }
        {
            name = $1; class = $3; section = $7
            gsub(/ /, "", name); gsub(/ /, "", class); gsub(/ /, "", section)
            plain = name
            sub(/\.[0-9]+$/, "", plain) # a static of a function is numbered
        }
        # Made by the compiler for sanitizers and coverage.
        name ~ /^_*(odr_asan|asan|ubsan|tsan|sancov|sanitizer|llvm|gcov|prof|covrec)/ { next }
        name ~ /^\.?L/ || name ~ /^_sub_[ID]_/ { next }
        name == "" || class == "U" || class == "w" || class == "v" { next }
        class ~ /[A-Z]/ && name !~ /^vd_/ {
            printf "%s: the global name \"%s\" lacks vd_; make it static or rename it\n",
                source, name
        }
        section ~ /^(\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ && section !~ /^\.data\.rel\.ro/ &&
        !(source in allowed) && !((source ":" plain) in allowed) {
            printf "%s: \"%s\" is writable (%s); pass state in a struct, or make it const\n",
                source, name, section
        }'
}

# judged NAME.c C-TEXT COMPLAINT: an archive with this file is complained about so, or not at all.
judged() {
    rm -rf "$scratch/made_up"
    mkdir "$scratch/made_up"
    printf '%s\n' "$2" >"$scratch/made_up/$1"
    ${CC:-cc} -fPIC -O1 -c "$scratch/made_up/$1" -o "$scratch/made_up/$1.o" &&
        ar rcs "$scratch/made_up/lib.a" "$scratch/made_up/$1.o" || return 1
    if [ -z "$3" ]; then
        silent complaints "$scratch/made_up/lib.a" src/base/log.c src/base/a.c:once
    else
        complains "$3" complaints "$scratch/made_up/lib.a" src/base/log.c src/base/a.c:once
    fi
}

# In an archive the linker silently takes the first of two functions with one name.
twice() {
    LC_ALL=C nm "$1" | awk '$2 ~ /^[TDBR]$/ && seen[$3]++ { print $3 " is defined twice" }'
}

# two_files C-TEXT C-TEXT: an archive of two files, judged by twice.
two_files() {
    rm -rf "$scratch/made_up"
    mkdir "$scratch/made_up"
    for text; do
        n=$((${n:-0} + 1))
        printf '%s\n' "$text" >"$scratch/made_up/$n.c"
        ${CC:-cc} -c "$scratch/made_up/$n.c" -o "$scratch/made_up/$n.o" || return 1
    done
    ar rcs "$scratch/made_up/lib.a" "$scratch/made_up"/*.o && twice "$scratch/made_up/lib.a"
}

library=$build/libvedette_core.a
tap "no name is defined twice" silent twice "$library"
tap "a name that is defined twice is refused" complains 'vd_same is defined twice' two_files \
    'int vd_same(void) { return 1; }' 'int vd_same(int a) { return a; }'
# shellcheck disable=SC2086 # the list is words
tap "the library has no stray names and no stray state" silent complaints "$library" $stateful
defines_some() { nm "$library" | grep -q ' T vd_'; }
tap "the library defines something" defines_some

tap "a name without vd_ is refused" judged src_base_a.c 'int helper(void) { return 1; }' \
    'src/base/a.c: the global name "helper" lacks vd_'
tap "a global is refused" judged src_base_a.c 'int vd_count;' '"vd_count" is writable'
tap "initialised data is refused" judged src_json_number_text.c 'int vd_count = 7;' \
    'src/json/number_text.c: "vd_count" is writable'
tap "a static in a function is refused" judged src_base_a.c \
    'int vd_next(void); int vd_next(void) { static int last; return ++last; }' 'is writable'
tap "a table of non-constant pointers is refused" judged src_base_a.c \
    'static const char *names[] = {"a", "b"}; const char **vd_names(void) { return names; }' \
    '"names" is writable'
tap "a thread-local is refused" judged src_base_a.c '_Thread_local int vd_mine;' \
    '"vd_mine" is writable'
tap "a constant table of pointers is fine" judged src_base_a.c \
    'static const char *const names[] = {"a"}; const char *vd_name(int i) { return names[i]; }' ''
tap "the logger may have state" judged src_base_log.c \
    'static int level; int *vd_level(void) { return &level; }' ''
tap "a symbol that is allowed by name is fine" judged src_base_a.c \
    'int *vd_once(void); int *vd_once(void) { static int once; return &once; }' ''
tap "the same name in another file is refused" judged src_base_b.c \
    'int *vd_once(void); int *vd_once(void) { static int once; return &once; }' 'is writable'
tap_end
