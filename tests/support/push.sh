# shellcheck shell=sh disable=SC2154 # names shared with the tests
# Sourced by tests that need objects of Git: pushes files with the real git client. Its environment
# has no settings of this machine, and trusts the server in $scratch.
GIT_CONFIG_NOSYSTEM=1
GIT_TERMINAL_PROMPT=0
GIT_SSL_CAINFO=$scratch/data/pki/ca.crt
GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.com
GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.com
HOME=$scratch
export GIT_CONFIG_NOSYSTEM GIT_TERMINAL_PROMPT GIT_SSL_CAINFO HOME
export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
unset GIT_DIR GIT_WORK_TREE GIT_CONFIG GIT_CONFIG_PARAMETERS 2>/dev/null

# push_folder FOLDER URL: commits what the folder has, and pushes it to the branch main. The URL has
# the user and the token in it. What the server said is printed.
push_folder() {
    if [ ! -d "$1/.git" ]; then git init -q -b main "$1" || return 1; fi
    git -C "$1" add -A && git -C "$1" commit -q --allow-empty -m "a change" &&
        timeout 60 git -C "$1" push -q "$2" main 2>&1
}

# pushed_commit FOLDER
pushed_commit() { git -C "$1" rev-parse HEAD; }
