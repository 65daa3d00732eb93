# shellcheck shell=sh disable=SC2154 # names of client.sh
# Sourced by the tests with @kubernetes/client-node, after client.sh; skips them where it cannot be
# had. Several may want it at a time: the first one installs.
if ! { command -v node && command -v npm; } >/dev/null; then skip_all "no node or npm here"; fi

# install: once for each build folder and version.
install() {
    cmp -s "$here/package.json" "$cache/node/installed.json" && return 0
    cp "$here/package.json" "$cache/node/" || return 1
    (cd "$cache/node" && timeout 240 npm install --no-audit --no-fund --ignore-scripts) \
        >npm.out 2>&1 && cp "$here/package.json" "$cache/node/installed.json"
}

mkdir -p "$cache/node"
exec 9>"$cache/node/lock"
flock -w 240 9
install || skip_all "npm could not install @kubernetes/client-node"
exec 9>&-
