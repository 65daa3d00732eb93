#!/bin/sh
# A call of a banned function does not compile. banned.h may ban more than this list, never less.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/tap.sh"

header=$top/src/base/banned.h
wanted='strcpy strcat strncpy strncat sprintf vsprintf strtok atoi atol atoll atof gets
tmpnam mktemp gmtime localtime ctime asctime'

# compile NAME: a file that takes the function's address, with the header in front as in the build.
compile() {
    printf 'void use(void);\nvoid use(void)\n{\n    (void)%s;\n}\n' "$1" >"$scratch/use.c"
    LC_ALL=C ${CC:-cc} -std=c17 -D_GNU_SOURCE -fsyntax-only -include "$header" "$scratch/use.c"
}

tap "what is not banned compiles" compile snprintf
poisoned=$(sed -n 's/^#pragma GCC poison \([^/]*\).*/\1/p' "$header")
for name in $(echo "$wanted" "$poisoned" | tr ' ' '\n' | LC_ALL=C sort -u); do
    tap "$name is refused" complains poisoned compile "$name"
done
tap_end
