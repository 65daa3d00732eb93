#!/bin/sh
# Completion in the shells that people use: what bash and zsh offer is what the program has.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
vedette=$(cd "$build" && pwd)/vedette
cd "$scratch" || exit 1
touch one.yaml two.db
mkdir three
"$vedette" completion bash >vedette.bash
"$vedette" completion zsh >_vedette

# says TEXT COMMAND...: exit status 2, and one line on stderr with the text.
says() {
    says_text=$1
    shift
    "$@" >out 2>err
    [ $? -eq 2 ] && grep -q -F -e "$says_text" err && [ ! -s out ]
}
tap "another shell" says "there is no completion for 'fish'" "$vedette" completion fish
tap "no shell" says "SHELL is missing" "$vedette" completion

# ---- bash ----

# offers WORD...: what bash offers for the last one, a line each, in `offered`.
offers() {
    bash --norc --noprofile -c '
        source ./vedette.bash
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _vedette
        if ((${#COMPREPLY[@]})); then printf "%s\n" "${COMPREPLY[@]}"; fi
        complete -p vedette >/dev/null' bash "$@" | LC_ALL=C sort >offered
}
# offered TEXT WORD...: just these, with spaces between them.
offered() {
    offered_text=$1
    shift
    offers "$@"
    [ "$(tr '\n' ' ' <offered | sed 's/ $//')" = "$offered_text" ] && return 0
    echo "$*: $(tr '\n' ' ' <offered)"
    return 1
}
# as_help WORD...: the commands and options that the help of the command has.
as_help() {
    {
        "$vedette" help "$@" | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  .*/\1/p'
        "$vedette" help "$@" | sed -n 's/^  \(--[a-z0-9-]*\).*/\1/p'
        [ $# -gt 0 ] || printf 'help\n--version\n'
    } | LC_ALL=C sort >helped
    offers vedette "$@" ''
    diff helped offered
}
if command -v bash >/dev/null; then
    tap "bash reads the script" bash --norc -n vedette.bash
    tap "bash: all of the program" as_help
    for command in config store token serve "config print" "store backup" "store restore" \
        "store verify" "store stats" "store compact" "token create" "token list" "token revoke" \
        kubeconfig repo "repo list" top version; do
        # shellcheck disable=SC2086 # its words
        tap "bash: all of $command" as_help $command
    done
    tap "bash: what a word begins" offered "store" vedette st
    tap "bash: options by their beginning" offered "--tls-ca --tls-cert" vedette serve --tls-c
    tap "bash: behind other options" offered "--listen" vedette serve --data x --lis
    tap "bash: a value is no command" offered "--user" vedette kubeconfig --data token --us
    tap "bash: options of a command with operands" offered "--remote --remote-branch" \
        vedette repo create shop/catalog --rem
    tap "bash: choices of an option" offered "internal private public" \
        vedette repo create shop/catalog --visibility ''
    tap "bash: options of lint" offered "--max-errors" vedette lint . --max
    tap "bash: choices" offered "memory sqlite" vedette serve --store ''
    tap "bash: behind an equals sign" offered "json" vedette store stats --output = j
    tap "bash: right behind it" offered "json text" vedette store stats --output =
    tap "bash: switches" offered "auto off on" vedette serve --access-log ''
    tap "bash: folders for a DIR" offered "three" vedette top --data ''
    tap "bash: files for a FILE" offered "two.db" vedette store verify --file tw
    tap "bash: files for an operand" offered "one.yaml" vedette config check on
    tap "bash: shells" offered "--help bash zsh" vedette completion ''
    tap "bash: nothing for a number" offered "" vedette serve --threads ''
    tap "bash: help of a command" offered "backup" vedette help store ba
fi

# ---- zsh ----

# Completing needs zsh's line editor, and that a terminal, which zpty is. In it, whatever the
# completion adds is written to a file as well.
cat >inner.zsh <<'EOF'
PS1= TERM=dumb
fpath=($PWD $fpath)
autoload -U compinit
compinit -u -D
compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
        builtin compadd "$@"
        return
    fi
    local -a hits
    builtin compadd -A hits "$@"
    print -rl -- $hits >>hits
    builtin compadd "$@"
}
finish() { : >finished }
comppostfuncs=(finish)
bindkey '^I' complete-word
: >prepared
EOF
cat >outer.zsh <<'EOF'
zmodload zsh/zpty
zpty shell 'zsh -f -i'
zpty -w shell 'source ./inner.zsh'
wait_for() {
    local text
    integer tries=600
    until [[ -e $1 ]] || ((tries-- == 0)); do
        zpty -t shell && zpty -r -t shell text
        sleep 0.05
    done
}
wait_for prepared
zpty -w -n shell "$1"$'\t'
wait_for finished
zpty -d shell
EOF
# zsh_offers TEXT LINE: just these, with spaces between them, behind this line and a tab.
zsh_offers() {
    rm -f hits prepared finished
    : >hits
    timeout 60 zsh -f outer.zsh "$2" >zsh.out 2>&1
    [ "$(LC_ALL=C sort -u hits | grep . | tr '\n' ' ' | sed 's/ $//')" = "$1" ] && return 0
    echo "'$2': $(LC_ALL=C sort -u hits | tr '\n' ' ')"
    cat zsh.out
    return 1
}
if command -v zsh >/dev/null; then
    tap "zsh reads the script" zsh -f -n _vedette
    tap "zsh: commands" zsh_offers "backup compact init restore stats verify" "vedette store "
    tap "zsh: all of the program" zsh_offers \
        "completion config kubeconfig lint repo serve store token top version" "vedette "
    tap "zsh: choices" zsh_offers "memory sqlite" "vedette serve --store "
    tap "zsh: behind an equals sign" zsh_offers "json text" "vedette store stats --output="
    tap "zsh: folders for a DIR" zsh_offers "three" "vedette top --data t"
    tap "zsh: options" zsh_offers "--to" "vedette store backup --t"
    tap "zsh: shells" zsh_offers "bash zsh" "vedette completion "
fi
tap_end
