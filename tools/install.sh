#!/bin/sh
# Installs what was built, or removes it again: program, manual pages, completion for bash and zsh,
# and the systemd unit with its user.
#
#   tools/install.sh install PROGRAM
#   tools/install.sh uninstall
#
# PREFIX is where it is to be used, /usr/local by default; DESTDIR, for those who make packages, is
# a folder that stands for the root. Data and configuration are left alone by both.
set -eu
cd "$(dirname "$0")/.."
usage='usage: tools/install.sh install PROGRAM | uninstall'
prefix=${PREFIX:-/usr/local}
root=${DESTDIR:-}$prefix
bash=$root/share/bash-completion/completions/vedette
zsh=$root/share/zsh/site-functions/_vedette
unit=$root/lib/systemd/system/vedette.service
user=$root/lib/sysusers.d/vedette.conf

# manual PAGE: where it goes.
manual() { echo "$root/share/man/man${1##*.}/$(basename "$1")"; }

put() {
    program=${1:?$usage}
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    "$program" completion bash >"$scratch/bash"
    "$program" completion zsh >"$scratch/zsh"
    sed "s,@PREFIX@,$prefix," deploy/vedette.service >"$scratch/unit"
    install -D -m 755 "$program" "$root/bin/vedette"
    for page in docs/man/*; do
        install -D -m 644 "$page" "$(manual "$page")"
    done
    install -D -m 644 "$scratch/bash" "$bash"
    install -D -m 644 "$scratch/zsh" "$zsh"
    install -D -m 644 "$scratch/unit" "$unit"
    install -D -m 644 deploy/vedette.sysusers "$user"
    echo "installed $root/bin/vedette, with manual pages, completion and vedette.service"
    if [ -z "${DESTDIR:-}" ] && [ -d /run/systemd/system ]; then
        echo "to start it: systemd-sysusers && systemctl daemon-reload &&" \
            "systemctl enable --now vedette"
    fi
}

remove() {
    rm -f "$root/bin/vedette" "$bash" "$zsh" "$unit" "$user"
    for page in docs/man/*; do
        rm -f "$(manual "$page")"
    done
    echo "removed $root/bin/vedette and what came with it; data was left alone"
}

case ${1:-} in
install) put "${2:-}" ;;
uninstall) remove ;;
*)
    echo "$usage" >&2
    exit 2
    ;;
esac
