# shellcheck shell=sh disable=SC2034,SC2119,SC2120,SC2154 # names shared with tap.sh and the tests
# Sourced by every test of this folder, after tap.sh: a server of its own in the scratch folder,
# which goes away with the script, and a home there, so that no client finds the user's settings.
#
# A test works in $scratch. $http and $https are the server's doors, $pid its process.
vedette=$(cd "$build" && pwd)/vedette
here=$(cd "$(dirname "$0")" && pwd)
cache=$(cd "$build" && pwd)/clients # what is fetched once for all runs of this build folder
cd "$scratch" || exit 1
pid=
trap 'if [ -n "$pid" ]; then kill -9 "$pid"; fi 2>/dev/null; rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
HOME=$scratch
KUBECONFIG=$scratch/data/admin.kubeconfig
KUBECACHEDIR=$scratch/cache
export HOME KUBECONFIG KUBECACHEDIR
unset KUBE_EDITOR EDITOR http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY 2>/dev/null

# skip_all REASON: ends the script; what it needs cannot be had on this machine.
skip_all() {
    echo "ok 1 # SKIP $1"
    echo "1..1"
    exit 0
}

is_gone() { ! kill -0 "$pid" 2>/dev/null; }
is_up() { grep -q '^ready ' out || is_gone; }

# start_server OPTION...: on the doors it had before, else on free ones, so that a client finds it
# again after a restart.
start_server() {
    : >out
    "$vedette" serve --data data --listen "${http_door:-127.0.0.1:0}" \
        --tls-listen "${https_door:-127.0.0.1:0}" "$@" >out 2>>err &
    pid=$!
    until_true is_up
    https=$(sed -n 's/^ready .*\(https:[^ ]*\).*/\1/p' out)
    http=$(sed -n 's/^ready .*\(http:[^ ]*\).*/\1/p' out)
    https_door=${https#https://}
    http_door=${http#http://}
    [ -n "$https" ] && [ -n "$http" ] && return 0
    cat out err
    return 1
}

# kill_server: kill -9, and it is gone.
kill_server() {
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    pid=
}

# gives TEXT COMMAND...: succeeds with output that has this line.
gives() {
    gives_text=$1
    shift
    "$@" >gives.out 2>&1
    gives_status=$?
    [ "$gives_status" -eq 0 ] && grep -q -x -F -e "$gives_text" gives.out && return 0
    echo "status $gives_status, wanted the line: $gives_text"
    cat gives.out
    return 1
}

# shows REGEX COMMAND...: succeeds with output in which a line matches.
shows() {
    shows_regex=$1
    shift
    "$@" >shows.out 2>&1
    shows_status=$?
    [ "$shows_status" -eq 0 ] && grep -q -E -e "$shows_regex" shows.out && return 0
    echo "status $shows_status, wanted a match of: $shows_regex"
    cat shows.out
    return 1
}

# refuses TEXT COMMAND...: fails, and says the text.
refuses() {
    refuses_text=$1
    shift
    "$@" >refuses.out 2>&1
    refuses_status=$?
    [ "$refuses_status" -ne 0 ] && grep -q -F -e "$refuses_text" refuses.out && return 0
    echo "status $refuses_status, wanted: $refuses_text"
    cat refuses.out
    return 1
}

# serve_client PID: waits for a client that makes the file `killed` when it wants the server killed
# and started again, after which there is `restarted`; returns the client's status.
serve_client() {
    serve_deadline=$(($(date +%s) + 120))
    until [ -e killed ] || ! kill -0 "$1" 2>/dev/null || [ "$(date +%s)" -ge "$serve_deadline" ]; do
        sleep 0.05
    done
    if [ -e killed ]; then
        kill_server
        start_server && : >restarted
    fi
    wait "$1"
}
