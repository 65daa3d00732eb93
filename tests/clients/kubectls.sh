# shellcheck shell=sh disable=SC2034,SC2154 # names shared with client.sh and the tests
# Sourced by the tests that run every version of kubectl that can be had, after client.sh.

# found: the kubectls, one path a line. Some installs keep several versions beside a `kubectl` that
# picks one of them by asking the server; only the versions are of interest there.
found() {
    (
        IFS=:
        for dir in $PATH; do
            real=$(readlink -f "$dir/kubectl") 2>/dev/null || continue
            [ -x "$real" ] || continue
            several=
            for other in "$(dirname "$real")"/kubectl.[0-9]*; do
                if [ -x "$other" ]; then several=1 && echo "$other"; fi
            done
            [ -n "$several" ] || echo "$real"
        done
    ) | sort -u
}

# debian: the one of Debian's kubernetes-client, unpacked and not installed: it cannot be beside
# another package's kubectl.
debian() {
    if [ ! -x "$cache/deb/usr/bin/kubectl" ] && command -v dpkg >/dev/null; then
        mkdir -p "$cache" && (
            cd "$cache" && apt-get download kubernetes-client && dpkg -x kubernetes-client_*.deb deb
        ) >/dev/null 2>&1
    fi
    if [ -x "$cache/deb/usr/bin/kubectl" ]; then echo "$cache/deb/usr/bin/kubectl"; fi
}

# minor KUBECTL: 32 of v1.32.5.
minor() {
    "$1" version --client -o json 2>/dev/null |
        sed -n 's/.*"gitVersion": *"v1\.\([0-9]*\)\..*/\1/p' | head -n 1
}

# find_kubectls: their paths in $kubectls; without any, the script ends.
find_kubectls() {
    kubectls="$(found) $(debian)"
    [ "$kubectls" != " " ] ||
        skip_all "no kubectl here, and Debian's kubernetes-client cannot be had"
}
