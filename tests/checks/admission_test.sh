#!/bin/sh
# Proposals enter the store in one place, src/kinds/admission.c, where it is decided who may change
# what; a loop may gather what was admitted there (src/kube/proposal.c gives, src/api/loop.c
# sends).
# The server's first objects, and its last question to the store, are its own.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/tap.sh"

# others ROOT: places that give the store a proposal and are not meant to.
others() {
    (
        cd "$1" && grep -rnE 'vd_(store_(propose|propose_all|commit)|api_loop_propose)\(' \
            src cmd --include='*.c' |
            grep -vE '^src/(store/[a-z_]*|kinds/admission|server/(bootstrap|api))\.c:' |
            grep -vE '^src/api/loop\.c:.*(vd_store_propose_all|vd_api_loop_propose)\(' |
            grep -vE '^src/kube/proposal\.c:.*vd_api_loop_propose\('
    )
    return 0
}

# finds: one that is put into a face is found.
finds() {
    mkdir -p "$scratch/tree/src/graphql" "$scratch/tree/src/store" "$scratch/tree/cmd"
    echo '    vd_store_propose(store, &p);' >"$scratch/tree/src/store/store.c"
    echo '    vd_store_propose(store, &p);' >"$scratch/tree/src/graphql/mutation.c"
    complains 'src/graphql/mutation.c:1:' others "$scratch/tree"
}

tap "nothing proposes around the admission" silent others "$top"
tap "it would be found" finds
tap "the admission does" grep -q 'vd_store_propose(' "$top/src/kinds/admission.c"
tap_end
