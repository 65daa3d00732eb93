#!/bin/sh
# `vedette serve` from the outside: start, doors, certificates, signals, and what it refuses.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
vedette=$(cd "$build" && pwd)/vedette
cd "$scratch" || exit 1
server=
trap 'if [ -n "$server" ]; then kill -9 "$server"; fi 2>/dev/null; rm -rf "$scratch"' EXIT

is_up() { grep -q '^ready ' out || is_gone; }
is_gone() { ! kill -0 "$server" 2>/dev/null; }

# start OPTION...: a server on free ports, its URLs in $https and $http.
start() {
    : >out
    VEDETTE_LISTEN=127.0.0.1:0 VEDETTE_TLS_LISTEN=127.0.0.1:0 "$vedette" serve "$@" >out 2>err &
    server=$!
    until_true is_up
    https=$(grep '^ready ' out | grep -o 'https://[^ ]*')
    http=$(grep '^ready ' out | grep -o 'http://[^ ]*')
    [ -n "$https$http" ] && return 0
    cat out err
    return 1
}

# ends STATUS: the server ends by itself with this status.
ends() {
    until_true is_gone || { echo "still there"; return 1; }
    wait "$server"
    ends_got=$?
    server=
    [ "$ends_got" -eq "$1" ] && return 0
    echo "status $ends_got"
    cat err
    return 1
}

# stop SIGNAL
stop() {
    kill -s "$1" "$server"
    ends 0
}

# says STATUS TEXT COMMAND...: this exit status, and one line on stderr with the text.
says() {
    says_status=$1
    says_text=$2
    shift 2
    "$@" >says.out 2>says.err
    says_got=$?
    [ "$says_got" -eq "$says_status" ] && grep -q -F -e "$says_text" says.err &&
        [ "$(wc -l <says.err)" -eq 1 ] && return 0
    echo "status $says_got: $*"
    cat says.out says.err
    return 1
}

# fetches STATUS BODY ARGUMENT...: what curl gets.
unauthorized='{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
unauthorized=$unauthorized'"message":"Unauthorized","reason":"Unauthorized","code":401}'

fetches() {
    fetches_want="$1 $2"
    shift 2
    fetches_got=$(curl -sS -m 60 --cacert data/pki/ca.crt -w '\n%{http_code}' "$@" 2>&1)
    fetches_got="$(echo "$fetches_got" | tail -n 1) $(echo "$fetches_got" | sed '$d')"
    [ "$fetches_got" = "$fetches_want" ] && return 0
    echo "$fetches_got"
    return 1
}

# ---- the first start ----

tap "a server starts" start --data data
tap "it says where the kubeconfig is" grep -q -x 'kubeconfig data/admin.kubeconfig' out
tap "HTTPS answers, by the CA that was made" fetches 200 ok "$https/livez"
tap "plain HTTP answers" fetches 200 ok "$http/livez"
tap "/healthz" fetches 200 ok "$https/healthz"
tap "/readyz, check by check" fetches 200 "[+]ping ok
[+]store ok
[+]rbac ok
[+]shutdown ok
readyz check passed" "$http/readyz?verbose"
tap "one check alone" fetches 200 ok "$http/readyz/store"
tap "no such check" fetches 401 "$unauthorized" "$http/readyz/nothing"
tap "anything else" fetches 401 "$unauthorized" "$https/nothing"
tap "the version is for those who are known" fetches 401 "$unauthorized" "$https/version"
version() {
    version_want="\"gitVersion\":\"v1.32.4+vedette.$(cat "$top/VERSION")\""
    curl -sS -m 60 --cacert data/pki/ca.crt --cert data/pki/admin.crt --key data/pki/admin.key \
        "$https/version" | tr -d ' ' | grep -q -F "$version_want"
}
tap "it names Kubernetes' version and Vedette's" version
untrusted() {
    curl -sS "$https/livez"
    [ $? -eq 60 ]
}
tap "another CA is not trusted" untrusted
tap "the administrator's certificate is taken" fetches 200 ok --cert data/pki/admin.crt \
    --key data/pki/admin.key "$https/livez"
private() {
    [ "$(stat -c %a data/admin.kubeconfig)" = 600 ] && [ "$(stat -c %a data/pki/ca.key)" = 600 ] &&
        [ "$(stat -c %a data/pki)" = 700 ]
}
tap "secrets are private" private
tap "the kubeconfig points at the HTTPS door" grep -q -F "server: $https" data/admin.kubeconfig
line='method=GET path=/readyz status=200 duration_us=[0-9]+ bytes=[0-9]+ protocol=HTTP/1.1'
line="$line client=127.0.0.1 user_agent=curl[^ ]*"
tap "requests are logged, without their query" grep -q -E "msg=request $line\$" err
tap "the folder is in use" says 1 \
    "the data folder data is in use by process $server: stop it first, or use another folder" \
    "$vedette" serve --data data --listen 127.0.0.1:0 --tls-listen off
tap "with the memory store as well" says 1 "the data folder data is in use" \
    "$vedette" serve --data data --store memory --listen 127.0.0.1:0 --tls-listen off \
    --log-level error
port=${http##*:}
tap "a port that is taken" says 1 "could not listen on 127.0.0.1:$port: Address already in use" \
    "$vedette" serve --data other --listen "127.0.0.1:$port" --tls-listen off

# ---- SIGHUP ----

serial() {
    curl -sS -m 60 --cacert data/pki/ca.crt -w '%{certs}' -o /dev/null "$https/livez" |
        sed -n 's/^Serial Number://p' | head -n 1
}
before=$(serial)
reloads() {
    rm data/pki/server.crt
    kill -s HUP "$server"
    until_true grep -q 'msg="certificates loaded"' err || return 1
    [ -n "$before" ] && [ "$(serial)" != "$before" ]
}
# curl shows certificates from 7.88 on.
if [ -n "$before" ]; then tap "SIGHUP loads the certificates again" reloads; fi
survives() {
    cp data/pki/server.key kept.key
    echo rubbish >data/pki/server.key
    kill -s HUP "$server"
    until_true grep -q 'could not load the certificates again; the old ones stay' err || return 1
    fetches 200 ok "$https/livez" || return 1
    cp kept.key data/pki/server.key
}
tap "a bad certificate leaves the old one" survives

# ---- stop and start again ----

cp data/pki/ca.crt ca.before
cp data/pki/sa.key sa.before
tap "SIGTERM stops it" stop TERM
tap "the log says so" grep -q 'msg=stopped$' err
tap "nobody listens any more" says 7 "connect" curl -sS "$http/livez"
tap "it starts again" start --data data
same() { cmp data/pki/ca.crt ca.before && cmp data/pki/sa.key sa.before; }
tap "the keys are the same" same
tap "and it serves" fetches 200 ok "$https/livez"
tap "the kubeconfig has the new port" grep -q -F "server: $https" data/admin.kubeconfig
tap "SIGINT stops it too" stop INT

# ---- draining ----

not_ready() { fetches 503 "[+]ping ok
[+]store ok
[+]rbac ok
[-]shutdown failed: reason withheld
readyz check failed" "$http/readyz"; }
drains() {
    start --data data --shutdown-delay 1h || return 1
    kill -s TERM "$server"
    until_true not_ready >/dev/null || not_ready || return 1
    fetches 200 ok "$http/livez" || return 1
    kill -s TERM "$server" # ends the delay
    ends 0
}
tap "while it stops, it is alive and not ready" drains

# half_request: sends half of one, and the rest when the file `go` appears; the answer is in
# `answer`. There is one loop, so the half has been read when a later request is answered.
half_request() {
    rm -f half go answer
    node -e '
        const net = require("net"), fs = require("fs");
        const socket = net.connect(+process.argv[1], "127.0.0.1", () => {
            socket.write("GET /livez HTTP/1.1\r\n", () => fs.writeFileSync("half", ""));
        });
        const poll = setInterval(() => {
            if (!fs.existsSync("go")) return;
            clearInterval(poll);
            socket.write("Host: x\r\n\r\n");
        }, 20);
        socket.on("data", (bytes) => fs.appendFileSync("answer", bytes));
        socket.on("error", () => 0);
        socket.on("close", () => process.exit(0));
    ' "${http##*:}" &
    client=$!
    until_true test -e half && fetches 200 ok "$http/livez"
}
answers() {
    start --data data --threads 1 || return 1
    half_request || return 1
    kill -s TERM "$server"
    until_true grep -q 'msg=stopping' err || return 1
    : >go
    ends 0 || return 1
    wait "$client"
    grep -q '^HTTP/1.1 200' answer && grep -q -i '^connection: close' answer
}
tap "a request in progress is answered" answers
cuts() {
    start --data data --threads 1 --drain-timeout 100ms || return 1
    half_request && stop TERM || return 1
    wait "$client"
    [ ! -e answer ] && grep -q 'requests were cut off' err
}
tap "one that does not end is cut off" cuts

# ---- doors and certificates ----

only() { [ -n "$1" ] && [ "$(sed -n 's/^ready //p' out)" = "$1" ]; }
tap "a server without HTTPS" start --data plain --tls-listen off
tap "has one URL" only "$http"
no_kubeconfig() { [ -e plain/pki/ca.crt ] && [ ! -e plain/admin.kubeconfig ]; }
tap "and no kubeconfig" no_kubeconfig
tap "it answers" fetches 200 ok "$http/livez"
stop TERM >/dev/null
tap "a server without plain HTTP, on all addresses" start --data data --listen off \
    --tls-listen 0.0.0.0:0 --tls-hosts vedette.example
tap "has one URL too" only "$https"
tls_port=${https##*:}
tap "its kubeconfig can be used here" grep -q -F "server: https://127.0.0.1:$tls_port" \
    data/admin.kubeconfig
tap "its certificate has the name" fetches 200 ok \
    --connect-to "vedette.example:443:127.0.0.1:$tls_port" https://vedette.example/livez
stop TERM >/dev/null

given() {
    cp data/pki/server.crt given.crt && cp data/pki/server.key given.key &&
        cp data/pki/ca.crt given.ca || return 1
    start --data third --tls-cert given.crt --tls-key given.key --tls-ca given.ca \
        --client-ca given.ca || return 1
    [ ! -e third/pki/server.crt ] || return 1
    # Administrators of both CAs are taken.
    fetches 200 ok "$https/livez" &&
        fetches 200 ok --cert data/pki/admin.crt --key data/pki/admin.key "$https/livez" &&
        fetches 200 ok --cert third/pki/admin.crt --key third/pki/admin.key "$https/livez" &&
        grep -q -F "certificate-authority-data: $(base64 -w 0 given.ca)" third/admin.kubeconfig
}
tap "certificates from elsewhere" given
stop TERM >/dev/null
tap "a missing certificate" says 1 "nowhere.crt" \
    "$vedette" serve --data third --tls-cert nowhere.crt --tls-key given.key \
    --tls-listen 127.0.0.1:0 --listen off
tap "the memory store keeps no log" start --data forgetful --store memory
no_log() { [ -e forgetful/pki/ca.crt ] && [ ! -e forgetful/log.db ]; }
tap "only keys" no_log
tap "and warns" grep -q 'level=warn msg=configuration warning=.*store is memory' err
stop TERM >/dev/null
tap "health can be closed" start --data data --anonymous-health off --access-log off \
    --log-format json
tap "it is not answered" fetches 401 "$unauthorized" "$http/livez"
no_access() { ! grep -q request err && grep -q '"msg":"ready"' err; }
tap "the log is as wished" no_access
stop TERM >/dev/null

# ---- a log that is lost ----

# refuses STATE: the server does not start beside its keys, and makes no log.
refuses() {
    says 1 "is a former server's, as its pki/admin.key shows, but its log.db is $1" \
        "$vedette" serve --data lost --listen 127.0.0.1:0 --tls-listen off
}
tap "a folder with a user's own files is a new one" start --data lost --tls-cert given.crt \
    --tls-key given.key
stop TERM >/dev/null
: >lost/log.db
tap "a log of length zero is not made anew" refuses empty
tap "nor filled" [ ! -s lost/log.db ]
rm lost/log.db
tap "nor one that is missing" refuses missing
tap "nor made" [ ! -e lost/log.db ]
tap "it is begun anew on purpose" "$vedette" store init --data lost
tap "then the server starts" start --data lost
tap "with the same keys" fetches 200 ok --cert lost/pki/admin.crt --key lost/pki/admin.key \
    --cacert lost/pki/ca.crt "$https/livez"
stop TERM >/dev/null

# ---- a role that is damaged ----

role() {
    curl -sS -m 60 -o role.out -w '%{http_code}' --cacert broken/pki/ca.crt \
        --cert broken/pki/admin.crt --key broken/pki/admin.key -H 'Content-Type: application/json' \
        -d '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"victim"},
        "rules":[{"apiGroups":[""],"resources":["secrets"],"verbs":["damageme"]}]}' \
        "$https/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles" | grep -q 201
}
tap "a server with a role" start --data broken
tap "of somebody" role
stop TERM >/dev/null
store_tool=$(dirname "$vedette")/tests/store_tool
tap "whose bytes are damaged" "$store_tool" patch broken/log.db damageme damageXX
tap "starts all the same" start --data broken
tap "is ready" fetches 200 '[+]rbac ok
readyz check passed' "$http/readyz/rbac?verbose"
tap "names the role and its revision in the log" grep -q \
    'grants nothing" error="revision [0-9]*, roles.*default/victim' err
counted() {
    curl -sS -m 60 --cacert broken/pki/ca.crt --cert broken/pki/admin.crt \
        --key broken/pki/admin.key "$https/metrics" | grep -q '^rbac_left_out_objects 1$'
}
tap "and counts it" counted
stop TERM >/dev/null

# ---- what it says to people ----

# The line is pasted into a shell that stands elsewhere.
pasted() {
    grep '^  export KUBECONFIG=' out >pasted.sh && (
        # shellcheck source=/dev/null
        cd / && . "$scratch/pasted.sh" && [ -r "$KUBECONFIG" ] &&
            [ "$KUBECONFIG" = "$scratch/it's here/admin.kubeconfig" ]
    )
}
first_line() { sed -n 1p out | grep -q '^ready https://[^ ]* http://[^ ]*$'; }
second_line() { [ "$(sed -n 2p out)" = "kubeconfig it's here/admin.kubeconfig" ]; }
tap "a folder with a quote and a space" start --data "it's here"
tap "the first line is for programs" first_line
tap "so is the second" second_line
tap "what can be pasted finds the kubeconfig from anywhere" pasted
tap "a command to try" grep -q -x '  kubectl get cm -w' out
tap "none with an example that is not there" test -z "$(grep examples out)"
stop TERM >/dev/null
mkdir examples && cp "$top/examples/configmap.yaml" examples/
tap "in the source tree" start --data data
tap "an example to try" grep -q -F -x "  kubectl apply -f '$scratch/examples/configmap.yaml'" out
stop TERM >/dev/null

# ---- what is refused ----

tap "an unknown option" says 2 "unknown option '--lisen' (did you mean '--listen'?)" \
    "$vedette" serve --lisen 127.0.0.1:0
tap "plain HTTP for everybody" says 2 "listen (--listen) is plain HTTP" \
    "$vedette" serve --data data --listen 0.0.0.0:0
tap "no door" says 2 "are both off" "$vedette" serve --listen off --tls-listen off
tap "a certificate without its key" says 2 "tls-cert (--tls-cert) is given without tls-key" \
    "$vedette" serve --tls-cert x
tap "a wrong variable" says 2 "VEDETTE_THREADS wants a number, not 'x'" \
    env VEDETTE_THREADS=x "$vedette" serve
tap "a missing file" says 2 "nowhere.yaml" "$vedette" serve --config nowhere.yaml
tap "a folder that cannot be made" says 1 "could not make the data folder nowhere/data" \
    "$vedette" serve --data nowhere/data

# ---- vedette config ----

printf 'listen: 127.0.0.1:1\nwindow:\n  age: 48h\n' >good.yaml
printf 'window:\n  aeg: 48h\n' >bad.yaml
tap "check: a good file" complains "good.yaml is good" "$vedette" config check good.yaml
tap "check: a bad file" says 1 \
    "bad.yaml:2:3: there is no setting 'window.aeg' (did you mean 'window.age'?)" \
    "$vedette" config check bad.yaml
tap "check: no file" says 2 "FILE is missing" "$vedette" config check
tap "check: too many" says 2 "surplus argument 'b'" "$vedette" config check good.yaml b
tap "check: as serve has it" complains "good.yaml is good" \
    "$vedette" config check --config good.yaml
tap "check: twice" says 2 "FILE is given twice" \
    "$vedette" config check good.yaml --config good.yaml
cat >many.yaml <<'EOF'
lisen: off
listen: 0.0.0.0:80
window:
  aeg: 48h
  events: none
tls-cert: a.crt
watch: {timeout-min: 2h, timeout-max: 1h}
audit-log: audit.log
audit-policy: no.yaml
EOF
all_mistakes() {
    "$vedette" config check --config many.yaml >many.out 2>many.err
    [ $? -eq 1 ] || return 1
    for text in "many.yaml:1:1: there is no setting 'lisen' (did you mean 'listen'?)" \
        "many.yaml:4:3: there is no setting 'window.aeg'" \
        "many.yaml:5:3: window.events wants a number, not 'none'" \
        "listen (many.yaml:2:1) is plain HTTP" "tls-cert (many.yaml:6:1) is given without tls-key" \
        "watch.timeout-min (many.yaml:7:9) is more than watch.timeout-max (many.yaml:7:26)" \
        "the audit policy: could not open no.yaml"; do
        grep -q -F -e "vedette: $text" many.err && continue
        echo "not told: $text"
        cat many.err
        return 1
    done
    [ "$(wc -l <many.err)" -eq 7 ] && [ ! -s many.out ]
}
tap "check: every mistake is told" all_mistakes
prints() {
    VEDETTE_CONFIG=good.yaml VEDETTE_LISTEN=127.0.0.1:2 VEDETTE_LOG_LEVEL=warn \
        "$vedette" config print --listen 127.0.0.1:3 >printed || return 1
    grep -q -x 'listen: 127.0.0.1:3 # --listen' printed &&
        grep -q -x '  age: 48h # good.yaml:3:3' printed &&
        grep -q -x '  level: warn # VEDETTE_LOG_LEVEL' printed &&
        grep -q -x 'store: sqlite # default' printed
}
tap "print: the values and where they come from" prints
again() {
    "$vedette" config print --config printed | sed 's/ #.*//' >printed.again &&
        [ -s printed.again ] && sed 's/ #.*//' printed | cmp - printed.again
}
tap "print: what is printed can be read" again

# ---- the manuals ----

# The names and defaults of the settings: of the program, and of its manual.
program_settings() {
    "$vedette" config print | sed 's/ # default$//' |
        awk -F ': ' '/:$/ { group = $1; sub(/:$/, "", group); next }
            { name = $1; if (!sub(/^  /, "", name)) group = ""
              print (group == "" ? "" : group ".") name, ($2 == "\"\"" ? "none" : $2) }'
}
manual_settings() {
    sed 's/\\-/-/g' "$top/docs/man/vedette.yaml.5" | awk '/^\.SH/ { on = /SETTINGS/ }
        on && before == ".TP" { gsub(/"/, ""); sub(/^\.BR /, ""); gsub(/  +/, " "); print }
        { before = $0 }'
}
same_settings() {
    program_settings >settings.program
    manual_settings >settings.manual
    [ "$(wc -l <settings.program)" -gt 20 ] && diff settings.program settings.manual
}
tap "the manual has every setting with its default" same_settings
tap_end
