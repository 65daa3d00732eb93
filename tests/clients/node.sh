# shellcheck shell=sh disable=SC2154 # names shared with client.sh
# Sourced by tests that run on node, after client.sh: `install` fetches @kubernetes/client-node.
command -v node >/dev/null && command -v npm >/dev/null || skip_all "no node or npm here"

# install: once for each build folder and version, whoever comes first.
install() {
    mkdir -p "$cache" || return 1
    (
        flock 9
        cmp -s "$here/package.json" "$cache/node/installed.json" && exit 0
        mkdir -p "$cache/node" && cp "$here/package.json" "$cache/node/" || exit 1
        (cd "$cache/node" && timeout 240 npm install --no-audit --no-fund --ignore-scripts) \
            >npm.out 2>&1 && cp "$here/package.json" "$cache/node/installed.json"
    ) 9>"$cache/node.lock"
}
