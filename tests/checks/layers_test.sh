#!/bin/sh
# An include may point only to a layer that stands earlier in the list, or to its own.
#
# The faces never include each other, nor the store or the registry of watchers: they go through the
# headers of src/api, which say what a face may know of them. The server opens a face, and includes
# only the header that says how: <face>/<face>.h. Only the program's own folder and the tests see
# everything; a unit test sees what the layer that it tests sees. Public headers include public
# headers only, and a header x_internal.h is for its own layer.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/tap.sh"

layers='base json cel store watch kinds net auth api request kube graphql git hub start upstream
control catalog server'
faces='kube graphql hub git start'

# complaints ROOT: a line for each include that may not be, as file:line: what and why.
complaints() {
    (
        cd "$1" || exit
        find src include cmd tests bench -name '*.[ch]' 2>/dev/null |
            LC_ALL=C sort >"$scratch/files"
        awk -v layers="$(echo "$layers" | tr '\n' ' ')" -v faces="$faces" -v list="$scratch/files" '
        function complain(why) { printf "%s:%d: includes \"%s\": %s\n", file, line, target, why }
        function exists(path) { return path in known }
        # The layer whose rules a file follows; "" for a file that may see every layer.
        function layer_of(path, part) {
            split(path, part, "/")
            if (part[1] == "include") return "include"
            if (part[1] == "src") return part[2]
            if (part[1] == "tests" && part[2] == "unit") return part[3]
            return ""
        }
        function check(from, is_src, to, n, part) {
            n = split(target, part, "/")
            to = part[1]
            if (n == 1) { # beside the includer, or for a test in its support folder
                if (is_src) complain("write it from src/, with the layer in front")
                return
            }
            if (to == "vedette") return # public, earlier than all
            if (from == "include") {
                complain("a public header includes public headers only")
                return
            }
            if (!(to in rank)) {
                if (is_src) complain("there is no layer \"" to "\"")
                return
            }
            if (target ~ /_internal\.h$/ && from != to && from != "") {
                complain("an internal header is for its own layer, " to)
                return
            }
            if (from == "") return
            if (!(from in rank))
                complain("its own folder \"" from "\" is not in the list of layers")
            else if (rank[to] > rank[from])
                complain(to " comes after " from " in the list of layers")
            else if ((to in face) && (from in face) && to != from)
                complain("faces (" faces ") never include each other")
            else if (is_src && (from in face) && (to == "store" || target == "watch/registry.h"))
                complain("a face goes through src/api")
            else if (is_src && from == "server" && (to in face) && target != to "/" to ".h")
                complain("of a face the server includes " to "/" to ".h only")
        }
        BEGIN {
            count = split(layers, names, " ")
            for (i = 1; i <= count; i++) rank[names[i]] = i
            count = split(faces, names, " ")
            for (i = 1; i <= count; i++) face[names[i]] = 1
            while ((getline file < list) > 0) { files[++file_count] = file; known[file] = 1 }
            for (i = 1; i <= file_count; i++) {
                file = files[i]
                line = 0
                while ((getline text < file) > 0) {
                    line++
                    if (text !~ /^[ \t]*#[ \t]*include[ \t]*["<]/) continue
                    target = text
                    sub(/^[^"<]*["<]/, "", target)
                    sub(/[">].*$/, "", target)
                    if (text ~ /include[ \t]*</ && !exists("src/" target)) continue # the system
                    check(layer_of(file), file ~ /^src\//)
                }
                close(file)
            }
        }'
    )
}

# pointers_up ROOT: a line for each pointer to a function that stands in a struct of a face and is
# set by src/server: through it the face would call up into the server. A face is given data, or a
# pointer to something below it, instead. Found are members "type (*name)(...)" in the headers of
# the faces, and ".name = " or "->name = " in src/server.
pointers_up() {
    (
        cd "$1" || exit
        for face in $faces; do
            [ -d "src/$face" ] || continue
            find "src/$face" -name '*.h' -exec sed -n \
                's/^[[:space:]]\{1,\}[a-z].*(\*\([a-z_0-9]*\))(.*/\1/p' {} + | LC_ALL=C sort -u |
                while read -r member; do
                    grep -rnE --include='*.[ch]' "(\.|->)$member = " src/server 2>/dev/null |
                        sed "s/:\([0-9]*\):.*/:\1: sets \"$member\", a function of $face/"
                done
        done
    )
}

# pointer_up: a made-up tree in which the server gives a face a function.
pointer_up() {
    tree=$scratch/tree
    rm -rf "$tree"
    mkdir -p "$tree/src/kube" "$tree/src/server"
    echo '    void (*usage)(void *arg);' >"$tree/src/kube/d.h"
    echo '    api->kube.usage = vd_usage;' >"$tree/src/server/a.c"
    complains 'src/server/a.c:1: sets "usage", a function of kube' pointers_up "$tree"
}

# violation FILE LINE TEXT: the made-up tree with this line at the end of this file makes it say so.
violation() {
    tree=$scratch/tree
    rm -rf "$tree"
    for folder in src/base src/json src/store src/kube src/hub src/server include/vedette \
        tests/unit/json cmd; do
        mkdir -p "$tree/$folder"
    done
    echo '#include <stdio.h>' >"$tree/src/base/a.h"
    echo '#include "base/a.h"' >"$tree/src/json/b.h"
    echo '#include "json/b.h"' >"$tree/src/store/c_internal.h"
    echo '#include "store/c_internal.h"' >"$tree/src/store/c.c"
    echo '#include "json/b.h"' >"$tree/src/kube/d.h"
    echo '#include "kube/d.h"' >"$tree/cmd/main.c"
    echo '#include "kube/kube.h"' >"$tree/src/server/f.c"
    echo '#include "vedette/e.h"' >"$tree/src/hub/e.c"
    echo '#include <stddef.h>' >"$tree/include/vedette/e.h"
    if [ -n "$(complaints "$tree")" ]; then
        echo "the tree without a violation is complained about:"
        complaints "$tree"
        return 1
    fi
    echo "$2" >>"$tree/$1"
    complains "$3" complaints "$tree"
}

tap "every include points up" silent complaints "$top"
tap "some includes were read" test "$(grep -c '^src/' "$scratch/files")" -gt 0

tap "a lower layer is refused" violation src/base/a.h '#include "json/b.h"' \
    'src/base/a.h:2: includes "json/b.h": json comes after base in the list of layers'
tap "a space before the word does not hide it" violation src/json/b.h '#  include "store/c.h"' \
    'src/json/b.h:2: includes "store/c.h": store comes after json'
tap "angle brackets do not hide it" violation src/base/a.h '#include <json/b.h>' \
    'src/base/a.h:2: includes "json/b.h": json comes after base'
tap "a face is refused to another" violation src/hub/e.c '#include "kube/d.h"' \
    'src/hub/e.c:2: includes "kube/d.h": faces (kube graphql hub git start) never include'
tap "an internal header is refused outside" violation src/kube/d.h '#include "store/c_internal.h"' \
    'an internal header is for its own layer, store'
tap "a name without its layer is refused" violation src/base/a.h '#include "b.h"' \
    'write it from src/'
tap "an unknown folder is refused" violation src/base/a.h '#include "tests/b.h"' \
    'there is no layer "tests"'
tap "a public header keeps to itself" violation include/vedette/e.h '#include "base/a.h"' \
    'a public header includes public headers only'
tap "a unit test keeps its layer's rules" violation tests/unit/json/b_test.c \
    '#include "store/c.h"' \
    'tests/unit/json/b_test.c:1: includes "store/c.h": store comes after json'
tap "a face is refused the store" violation src/kube/d.h '#include "store/c.h"' \
    'src/kube/d.h:2: includes "store/c.h": a face goes through src/api'
tap "a face is refused the registry of watchers" violation src/kube/d.h \
    '#include "watch/registry.h"' 'includes "watch/registry.h": a face goes through src/api'
tap "the server is refused what is inside a face" violation src/server/f.c \
    '#include "kube/d.h"' \
    'src/server/f.c:2: includes "kube/d.h": of a face the server includes kube/kube.h only'
tap "no face calls up into the server" silent pointers_up "$top"
tap "a function that the server gives to a face is refused" pointer_up
tap_end
