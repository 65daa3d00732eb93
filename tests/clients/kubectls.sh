# shellcheck shell=sh disable=SC2034,SC2154 # names shared with client.sh and the tests
# Sourced by the tests that run kubectl, after client.sh. Which of its versions they run is decided
# here.

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

# by_age: "MINOR PATH" of each kubectl that can be run, the oldest version first, each version once.
by_age() {
    for by_age_path in $(found) $(debian); do
        by_age_minor=$(minor "$by_age_path")
        if [ -n "$by_age_minor" ]; then echo "$by_age_minor $by_age_path"; fi
    done | sort -n -u -k 1,1
}

# find_kubectls: the paths of the kubectls to run, the oldest first, in $kubectls: the oldest, the
# newest and Debian's, or all of them if VEDETTE_KUBECTLS is `all` (`make clients-kubectl`). Without
# any, the script ends.
find_kubectls() {
    kubectls=$(by_age | awk -v all="${VEDETTE_KUBECTLS:-}" -v debian="$cache/deb/" '
        { path[NR] = $2 }
        END {
            for (i = 1; i <= NR; i++)
                if (all == "all" || i == 1 || i == NR || index(path[i], debian) == 1) print path[i]
        }')
    [ -n "$kubectls" ] ||
        skip_all "no kubectl here, and Debian's kubernetes-client cannot be had"
}

# newest_kubectl: that one alone, in $kubectl, where the server is the subject and kubectl's version
# makes no difference.
newest_kubectl() {
    find_kubectls
    kubectl=$(echo "$kubectls" | tail -n 1)
}
