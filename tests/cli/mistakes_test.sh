#!/bin/sh
# Mistakes that keep the program from starting: each gets one sentence that names the thing, the
# place and the way out.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
vedette=$(cd "$build" && pwd)/vedette
cd "$scratch" || exit 1
server=
trap 'if [ -n "$server" ]; then kill -9 "$server"; fi 2>/dev/null; rm -rf "$scratch"' EXIT

# says STATUS SENTENCE COMMAND...: this exit status, `vedette: SENTENCE` alone on stderr, and
# nothing on stdout.
says() {
    says_status=$1
    says_text=$2
    shift 2
    timeout 60 "$@" >says.out 2>says.err
    says_got=$?
    [ "$says_got" -eq "$says_status" ] && [ "$(cat says.err)" = "vedette: $says_text" ] &&
        [ ! -s says.out ] && return 0
    echo "status $says_got: $*"
    cat says.out says.err
    return 1
}

# refused NAME SENTENCE OPTION...: `vedette serve` fails with the sentence.
refused() {
    refused_name=$1
    refused_text=$2
    shift 2
    tap "$refused_name" says 1 "$refused_text" \
        "$vedette" serve --data data --listen off --tls-listen 127.0.0.1:0 --log-level error "$@"
}

# misused NAME SENTENCE OPTION...: so does it, for wrong usage.
misused() {
    misused_name=$1
    misused_text=$2
    shift 2
    tap "$misused_name" says 2 "$misused_text" "$vedette" serve --data data "$@"
}

is_up() { grep -q '^ready ' out || ! kill -0 "$server" 2>/dev/null; }

# start OPTION...: a server that comes up; its log is in err.
start() {
    : >out
    "$vedette" serve --listen off --tls-listen 127.0.0.1:0 "$@" >out 2>err &
    server=$!
    until_true is_up
    grep -q '^ready ' out && return 0
    cat out err
    return 1
}
stop() {
    kill "$server" && wait "$server"
    server=
}

# certificate NAME: NAME.crt and NAME.key.
certificate() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 \
        -subj "/CN=$1" -keyout "$1.key" -out "$1.crt" 2>openssl.err
}
nowhere="No such file or directory: check the path"

# ---- the data folder ----

touch file
above="No such file or directory: make the folder above it first, or choose another"
tap "a folder inside one that is missing" says 1 \
    "could not make the data folder no/data: $above" "$vedette" serve --data no/data
tap "a folder inside a file" says 1 "could not make the data folder file/data: Not a directory: a \
part of the path is not a folder; check it" "$vedette" serve --data file/data
tap "a file" says 1 "the data folder file is not a folder: choose another, or move away what \
stands there" "$vedette" serve --data file
mkdir -m 777 everybody
warned() { grep -q "level=warn msg=\"everybody may write into the data folder.*chmod o-w\"" err; }
tap "a folder that everybody may write to" start --data everybody
tap "is warned of" warned
stop
tap "one of one's own" start --data data
not_warned() { ! grep -q level=warn err; }
tap "is not" not_warned
stop
mkdir kept
cp -R data/. kept
echo rubbish >data/pki/ca.crt
refused "a damaged certificate of the server" "data/pki/ca.crt holds no certificate in PEM form: \
restore it from a copy, or remove it to have a new one made"
cp kept/pki/ca.crt data/pki/ca.crt
echo rubbish >data/pki/sa.key
refused "a damaged key of the server" "data/pki/sa.key: this is no key in PEM form, or it has a \
passphrase: restore it from a copy, or remove it to have a new one made, which ends what the old \
one signed"
cp kept/pki/sa.key data/pki/sa.key

# ---- doors ----

misused "a port that cannot be" "--listen wants HOST:PORT with a numeric host and a port up to \
65535, such as 127.0.0.1:8080 or [::1]:8080, or off, not '127.0.0.1:99999'" --listen 127.0.0.1:99999
tap "an address of another machine" says 1 "could not listen on 192.0.2.1:0: Cannot assign \
requested address: choose an address that this machine has, or 0.0.0.0 for all of them, with \
--tls-listen HOST:PORT or VEDETTE_TLS_LISTEN" \
    "$vedette" serve --data data --listen off --tls-listen 192.0.2.1:0

# ---- certificates ----

certificate one
certificate two
echo rubbish >rubbish.pem
pair="tls-cert and tls-key: could not use the"
refused "no such certificate" "$pair certificate no.crt: $nowhere" \
    --tls-cert no.crt --tls-key one.key
refused "no such key" "$pair key no.key for the certificate one.crt: $nowhere" \
    --tls-cert one.crt --tls-key no.key
refused "the key of another certificate" "$pair key two.key for the certificate one.crt: they do \
not belong together; give the key it was made for" --tls-cert one.crt --tls-key two.key
refused "rubbish as certificate" \
    "$pair certificate rubbish.pem: it holds no certificate in PEM form that can be read" \
    --tls-cert rubbish.pem --tls-key one.key
refused "rubbish as key" "$pair key rubbish.pem for the certificate one.crt: it holds no key in \
PEM form that can be read" --tls-cert one.crt --tls-key rubbish.pem
refused "no such CA" "tls-ca: could not open no.crt: $nowhere" \
    --tls-cert one.crt --tls-key one.key --tls-ca no.crt
refused "rubbish as CA" "tls-ca: rubbish.pem holds no certificate in PEM form; give the CA's" \
    --tls-cert one.crt --tls-key one.key --tls-ca rubbish.pem
refused "no such CA of clients" "client-ca: could not open no.crt: $nowhere" --client-ca no.crt
refused "rubbish as CA of clients" \
    "client-ca: rubbish.pem holds no certificate in PEM form; give the CA's" --client-ca rubbish.pem
openssl req -new -key one.key -subj /CN=old -out old.csr 2>openssl.err &&
    openssl x509 -req -in old.csr -signkey one.key -days -1 -out old.crt 2>openssl.err
tap "a certificate that has expired" start --data data --tls-cert old.crt --tls-key one.key
warned_of_old() {
    grep -q 'level=warn msg="the certificate of tls-cert has expired.*file=old.crt' err
}
tap "is warned of by name" warned_of_old
stop
tap "a server with a port of its own" start --data data
port=$(sed -n 's/^ready https:.*:\([0-9]*\)$/\1/p' out)
used="Address already in use: another program uses it; stop that one, or choose another port"
tap "a port that another program has" says 1 "could not listen on 127.0.0.1:$port: $used, with \
--tls-listen HOST:PORT or VEDETTE_TLS_LISTEN" \
    "$vedette" serve --data second --listen off --tls-listen "127.0.0.1:$port"
tap "the same of plain HTTP" says 1 "could not listen on 127.0.0.1:$port: $used, with --listen \
HOST:PORT or VEDETTE_LISTEN" \
    "$vedette" serve --data third --tls-listen off --listen "127.0.0.1:$port"
stop

# ---- files ----

misused "no such configuration" \
    "could not read the configuration: could not open no.yaml: $nowhere" --config no.yaml
misused "a folder as configuration" "could not read the configuration: could not read data: Is a \
directory: name a file, not a folder" --config data
refused "no such issuers" "the authentication configuration: could not open no.yaml: $nowhere" \
    --authentication-config no.yaml
refused "no such policy" "the audit policy: could not open no.yaml: $nowhere" \
    --audit-log audit.log --audit-policy no.yaml
refused "an audit log nowhere" "could not open the audit log no/audit.log: $nowhere" \
    --audit-log no/audit.log

# ---- values ----

misused "the least above the most" "watch.timeout-min (--watch-timeout-min) is more than \
watch.timeout-max (--watch-timeout-max): lower the one or raise the other" \
    --watch-timeout-min 2h --watch-timeout-max 1h

# ---- vedette token, vedette top ----

text="1 to 1024 bytes of UTF-8 without control characters"
tap "a user of two lines" says 1 "the token's user must be $text" \
    "$vedette" token create --data data --user "a
b"
tap "a group without a name" says 1 "a group of the token must be $text; give them as a,b,c" \
    "$vedette" token create --data data --user ann --groups a,,b
rm data/admin.kubeconfig
tap "a server that never had HTTPS" says 1 \
    "there is no data/admin.kubeconfig: the server makes it when it starts with tls-listen" \
    "$vedette" top --data data
echo 'clusters: []' >data/admin.kubeconfig
tap "a kubeconfig of somebody else's" says 1 "data/admin.kubeconfig is not one that vedette has \
written: start the server again, which makes it anew" "$vedette" top --data data
tap_end
