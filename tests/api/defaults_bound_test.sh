#!/bin/sh
# Defaults that multiply, and large objects, end nothing but the request that they came with
# (defaults_bound.mjs). The server may have a few hundred megabytes more than it starts with.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
vedette=$(cd "$build" && pwd)/vedette
cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
limit='prlimit --as=805306368'
if ldd "$vedette" | grep -q 'lib[at]san'; then
    limit= # a sanitizer takes all the address space there is
fi
printf '#!/bin/sh\nMALLOC_ARENA_MAX=2 exec %s "%s" "$@"\n' "$limit" "$vedette" >limited
chmod +x limited
timeout 500 node "$top/tests/api/defaults_bound.mjs" ./limited data ${limit:+limited} || exit 1
