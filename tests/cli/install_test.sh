#!/bin/sh
# `make install` and `make uninstall` below a folder that stands for the root, and what they put
# there; `make run` and its options.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
build=$(cd "$build" && pwd)
root=$scratch/root

# This may run below another make, whose flags are not for the one here.
unset MAKEFLAGS MFLAGS MAKELEVEL
# The program is the one of this build folder.
installing() { make -s --no-print-directory -C "$top" BUILD="$build" DESTDIR="$root" "$@"; }

tap "make install" installing install PREFIX=/usr
tap "the program runs" "$root/usr/bin/vedette" version
has() { [ -f "$root$1" ] && [ "$(stat -c %a "$root$1")" = 644 ]; }
for page in "$top"/docs/man/*; do
    name=$(basename "$page")
    tap "the manual page $name" has "/usr/share/man/man${name##*.}/$name"
done
tap "completion for bash" bash -n "$root/usr/share/bash-completion/completions/vedette"
tap "completion for zsh" grep -q '^#compdef vedette' "$root/usr/share/zsh/site-functions/_vedette"
unit=$root/usr/lib/systemd/system/vedette.service
tap "the unit starts the program that is installed" \
    grep -q -x 'ExecStart=/usr/bin/vedette serve' "$unit"
hardened() {
    for line in NoNewPrivileges=yes ProtectSystem=strict StateDirectory=vedette PrivateTmp=yes \
        User=vedette; do
        grep -q -x "$line" "$unit" || { echo "$line is missing"; return 1; }
    done
}
tap "as a user of its own that can do little" hardened
tap "who is described" grep -q '^u vedette ' "$root/usr/lib/sysusers.d/vedette.conf"

# Its program and pages are looked for in the root, so that only the unit's own mistakes are left.
verified() {
    sed "s,^ExecStart=/usr/bin/,ExecStart=$root/usr/bin/,; /^Documentation=/d" "$unit" \
        >"$scratch/vedette.service"
    silent systemd-analyze verify "$scratch/vedette.service"
}
if command -v systemd-analyze >/dev/null; then tap "systemd understands the unit" verified; fi

# What the unit sets is what the program reads.
variables() {
    sed -n 's/^Environment=//p' "$unit" >"$scratch/variables"
    [ -s "$scratch/variables" ] || return 1
    while IFS="=" read -r name value; do
        env "$name=$value" "$root/usr/bin/vedette" config print | grep -q -F "$value # $name" ||
            return 1
    done <"$scratch/variables"
}
tap "its variables are settings" variables

tap "make uninstall" installing uninstall PREFIX=/usr
nothing() { [ -z "$(find "$root" -type f)" ] || { find "$root" -type f; return 1; }; }
tap "leaves nothing" nothing
tap "the prefix is /usr/local otherwise" installing install
tap "there" test -x "$root/usr/local/bin/vedette"
tap "and goes from there" installing uninstall
tap "nothing is left there either" nothing
not_built() {
    installing install BUILD="$scratch/nowhere" >"$scratch/out" 2>&1 && return 1
    grep -q "there is no $scratch/nowhere/vedette: run make first" "$scratch/out"
}
tap "without a build it says so" not_built

# ---- make run ----

run_line() { make -s --no-print-directory -C "$top" -n run "$@" | grep tools/run.sh; }
takes() { run_line ARGS='--listen 127.0.0.1:0 --data elsewhere' | grep -q -F "$1"; }
tap "make run takes options" takes 'build/vedette --listen 127.0.0.1:0 --data elsewhere'

# ---- tools/build.sh ----

mkdir "$scratch/small"
cat >"$scratch/small/build.ninja" <<'EOF'
rule slow
  command = echo $out >$out
rule wrong
  command = echo "what the compiler says"; false
build a: slow
build b: slow
build c: wrong
EOF
builds() { "$top/tools/build.sh" "$scratch/small" "$@" >"$scratch/built" 2>&1; }
tap "a build" builds a b
progress() { grep -q "^building $scratch/small: 2 of 2 steps\$" "$scratch/built"; }
tap "shows how far it is" progress
quiet() { builds a b && [ ! -s "$scratch/built" ]; }
tap "one that is up to date shows nothing" quiet
fails() { ! builds c && grep -q -x 'what the compiler says' "$scratch/built"; }
tap "one that fails says why, and fails" fails
if script -q -e -c true /dev/null </dev/null >/dev/null 2>&1; then
    rm "$scratch/small/a"
    on_terminal() {
        TERM=xterm script -q -e -c "'$top/tools/build.sh' '$scratch/small' a" /dev/null \
            </dev/null >"$scratch/built" 2>&1
        grep -q 'building .* \[1/1\]' "$scratch/built"
    }
    tap "on a terminal it is ninja's line" on_terminal
fi
tap_end
