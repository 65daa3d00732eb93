#!/bin/sh
# Fetches what Go programs need of client-go: Debian's source package `kubernetes`, which holds it
# with all that it depends on.
#
#   tests/clients/kubernetes_source.sh FOLDER
#
# FOLDER is then a GOPATH. The machine's package sources are read, with deb-src for deb, and left
# as they are; apt checks the signatures. Nothing is installed, and nothing fetched twice.
set -eu
mkdir -p "${1:?usage: kubernetes_source.sh FOLDER}"
folder=$(cd "$1" && pwd)
exec 9>"$folder/lock"
flock 9
[ ! -e "$folder/fetched" ] || exit 0

cd "$folder"
rm -rf apt tree src
mkdir -p apt/parts apt/lists/partial apt/cache tree
sources=/etc/apt/sources.list
for file in "$sources" "$sources".d/*.list "$sources".d/*.sources; do
    [ -e "$file" ] || continue
    sed -e 's/^deb /deb-src /' -e 's/^Types: .*/Types: deb-src/' "$file" \
        >"apt/parts/$(basename "$file")"
done
[ ! -e apt/parts/sources.list ] || mv apt/parts/sources.list apt/parts/main.list

# of_sources COMMAND...: apt-get, with no other sources and no other state than the folder's.
of_sources() {
    apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$folder/apt/parts" \
        -o Dir::State::Lists="$folder/apt/lists" -o Dir::Cache="$folder/apt/cache" \
        -o APT::Sandbox::User="$(id -un)" "$@" >apt.log 2>&1 || {
        cat apt.log >&2
        return 1
    }
}
of_sources update
of_sources source --download-only kubernetes

# Its own code is not needed, only client-go's neighbourhood: vendor, which links to staging.
tar -x -z -f kubernetes_*.orig.tar.gz -C tree --strip-components=1 --wildcards \
    '*/vendor' '*/staging/src'
ln -s tree/vendor src
rm -rf apt kubernetes_*
: >fetched
