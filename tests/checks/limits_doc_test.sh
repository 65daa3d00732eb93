#!/bin/sh
# docs/limits.md shows the limits as src/base/limits.h has them.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/tap.sh"

# changed SED-SCRIPT: the check's verdict on a copy whose header was edited so.
changed() {
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree/tools" "$scratch/tree/docs" "$scratch/tree/src/base"
    cp "$top/tools/limits_doc.sh" "$scratch/tree/tools/"
    cp "$top/docs/limits.md" "$scratch/tree/docs/"
    sed "$1" "$top/src/base/limits.h" >"$scratch/tree/src/base/limits.h"
    "$scratch/tree/tools/limits_doc.sh" --check
}

# rewritten SED-SCRIPT: after a rewrite the check agrees with the edited header.
rewritten() {
    changed "$1"
    "$scratch/tree/tools/limits_doc.sh" && "$scratch/tree/tools/limits_doc.sh" --check
}

tap "docs/limits.md is up to date" "$top/tools/limits_doc.sh" --check
tap "a copy passes as well" changed ''
tap "a changed value is noticed" complains 'run tools/limits_doc.sh' \
    changed 's/VD_NAME_LEN_MAX,  *253/VD_NAME_LEN_MAX, 254/'
tap "a new limit is noticed" complains 'run tools/limits_doc.sh' \
    changed 's/^\( *X(\)VD_NAME_LEN_MAX.*/&\n\1VD_NEW_MAX, 7, "news") \\/'
tap "a rewrite mends it" rewritten 's/VD_NAME_LEN_MAX,  *253/VD_NAME_LEN_MAX, 254/'
tap "a line that cannot be read is an error, not left out" complains 'cannot read' \
    changed 's/VD_NAME_LEN_MAX,  *253/VD_NAME_LEN_MAX, 100 +/'
tap_end
