#!/bin/sh
# Only an admitted proposal can be proposed, and only src/kinds/admission.c makes one, where it is
# decided who may change what. The compiler sees to that as long as nobody else includes the header
# that makes admitted proposals, casts to their type, or gives the type a body. The server's first
# objects are its own.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/tap.sh"

# others ROOT: places outside of the store that could make an admitted proposal, and are not meant
# to. A function that takes anything else than an admitted proposal into the store is declared in
# that header, too: their names are here in case somebody declares them again.
others() {
    (
        cd "$1" && {
            grep -rnE '#[[:space:]]*include[[:space:]]*["<](.*/)?admitted\.h' src cmd \
                --include='*.[ch]'
            grep -rnE '\((const )? *struct +vd_admitted *(const)? *\*+ *(const)? *\)' src cmd \
                --include='*.[ch]'
            grep -rnE 'struct vd_admitted[[:space:]]*(\{|$)' src cmd --include='*.[ch]'
            grep -rnE 'vd_(admitted_of|store_commit|group_run)[[:space:]]*\(' src cmd \
                --include='*.[ch]'
        } | grep -vE '^src/store/[a-z_]*\.[ch]:|^src/(kinds/admission|server/bootstrap)\.c:'
    )
    return 0
}

# entrances ROOT: what the store's header takes from others to write, and is not admitted.
entrances() {
    (
        cd "$1" && sed 's|/\*.*\*/||' src/store/[a-z]*.h | tr '\n' ' ' | tr ';' '\n' |
            grep -oE 'vd_store_(propose|commit)[a-z_]*\([^)]+\)' |
            grep -vE 'struct vd_admitted(_list)? \*' |
            grep -v '^vd_store_commit(struct vd_store \*store, const struct vd_wish \*wishes, '
    )
    return 0
}

# a_tree FILE LINE: a made-up tree with this line in this file.
a_tree() {
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree/src/graphql" "$scratch/tree/src/store" "$scratch/tree/cmd"
    echo '#include "store/admitted.h"' >"$scratch/tree/src/store/store.c"
    echo 'void vd_store_propose(struct vd_store *store, struct vd_admitted *admitted);' \
        >"$scratch/tree/src/store/store.h"
    echo "$2" >>"$scratch/tree/$1"
}

# finds LINE: one that is put into a face is found.
finds() {
    a_tree src/graphql/mutation.c "$1"
    complains 'src/graphql/mutation.c:1:' others "$scratch/tree"
}

# finds_entrance LINE: one that the store's header declares is found.
finds_entrance() {
    a_tree src/store/store.h "$1"
    complains 'vd_store_propose_here' entrances "$scratch/tree"
}

# refuses LINE: the compiler does not take the line, in a file that sees the store and admission.
refuses() {
    cat >"$scratch/face.c" <<END
#include "kinds/admission.h"
void face(struct vd_store *store, struct vd_proposal *proposal, struct vd_wish *wish);
void face(struct vd_store *store, struct vd_proposal *proposal, struct vd_wish *wish)
{
    (void)wish;
    (void)proposal;
    $1
}
END
    ! "${CC:-cc}" -std=gnu17 -Werror -Wall -fsyntax-only -I"$top/src" "$scratch/face.c" \
        2>"$scratch/why" && grep -q "$2" "$scratch/why"
}

# takes LINE: the compiler takes it.
takes() {
    refuses "$1" '' || return 0
    cat "$scratch/why"
    return 1
}

tap "nothing proposes around the admission" silent others "$top"
tap "an include would be found" finds '#include "store/admitted.h"'
tap "an include with spaces would be found" finds '#  include <store/admitted.h>'
tap "a cast would be found" finds '    vd_store_propose(store, (struct vd_admitted *)&p);'
tap "a body of the type would be found" finds 'struct vd_admitted {'
tap "a declaration of its own would be found" finds 'int vd_store_commit(void *, void *);'
tap "the store takes nothing else" silent entrances "$top"
tap "another entrance would be found" finds_entrance \
    'bool vd_store_propose_here(struct vd_store *store, struct vd_proposal *proposal);'
tap "the admission makes them" grep -q 'vd_admitted_of(' "$top/src/kinds/admission.c"
tap "the compiler takes what is admitted" takes \
    'struct vd_admitted *a = vd_admission_admit(0, proposal, 0, 0); vd_store_propose(store, a);'
tap "it refuses a proposal" refuses 'vd_store_propose(store, proposal);' incompatible
tap "it refuses one to be committed here" refuses \
    'if (vd_store_propose_here(store, proposal)) return;' incompatible
tap "it refuses a list of proposals" refuses \
    'vd_store_propose_all(store, &(struct vd_admitted_list){proposal, proposal});' incompatible
tap "it knows no other way to commit" refuses 'vd_store_commit(store, wish, 1, 0);' implicit
tap "it lets nobody make one" refuses 'struct vd_admitted a; (void)a;' vd_admitted
tap_end
