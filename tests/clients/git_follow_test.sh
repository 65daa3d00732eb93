#!/bin/sh
# Following a remote: a second server hosts it, the first one fetches it again and again, and its
# objects are those of the remote's commit, or those of the last good one.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git_shop.sh
. "$here/git_shop.sh"

tree=origin
remote_pid=
relay_pid=
slow_pid=
end_all() {
    for all_pid in $pid $remote_pid $relay_pid $slow_pid; do
        kill -9 "$all_pid"
    done 2>/dev/null
    rm -rf "$scratch"
}
trap end_all EXIT

# ---- the remote: a second server, with a repository `origin` ----

remote_is_up() { grep -q '^ready ' remote.out || ! kill -0 "$remote_pid" 2>/dev/null; }

start_remote() {
    : >remote.out
    "$vedette" serve --data remote --listen "${remote_http_door:-127.0.0.1:0}" \
        --tls-listen "${remote_https_door:-127.0.0.1:0}" >remote.out 2>>remote.err &
    remote_pid=$!
    until_true remote_is_up
    remote_https=$(sed -n 's/^ready .*\(https:[^ ]*\).*/\1/p' remote.out)
    remote_http=$(sed -n 's/^ready .*\(http:[^ ]*\).*/\1/p' remote.out)
    remote_https_door=${remote_https#https://}
    remote_http_door=${remote_http#http://}
    [ -n "$remote_https" ] && [ -n "$remote_http" ]
}

kill_remote() {
    kill -9 "$remote_pid"
    wait "$remote_pid" 2>/dev/null
    remote_pid=
}

r() { KUBECONFIG=$scratch/remote/admin.kubeconfig timeout 60 "$kubectl" "$@"; }

# The remote's Repository admits another branch, so that it takes anything on main.
make_origin() {
    remote_token=$("$vedette" token create --data remote --user ann --groups system:masters) &&
        r apply -f - <<ORIGIN && timeout 60 git clone -q \
            "http://x:$remote_token@$remote_http_door/default/origin.git" origin
apiVersion: git.vedette.dev/v1
kind: Repository
metadata: {name: origin}
spec: {branches: [none]}
ORIGIN
}

# Secrets of the first server.
make_secrets() {
    k create secret generic login --from-literal=username=x \
        --from-literal=password="$remote_token" --from-file=ca.crt=remote/pki/ca.crt &&
        k create secret generic token --from-literal=token="$remote_token" &&
        k create secret generic wrong --from-literal=token=nonsense &&
        k create secret generic other-ca --from-literal=token="$remote_token" \
            --from-file=ca.crt=data/pki/ca.crt &&
        k create secret generic hook --from-literal=secret=key
}

# ---- the follower ----

# follow NAME URL MORE: a Repository.
follow() {
    k apply -f - <<REPOSITORY
apiVersion: git.vedette.dev/v1
kind: Repository
metadata: {name: $1}
spec: {remote: {url: "$2", interval: 10s, $3}}
REPOSITORY
}

synced() {
    field repository "$1" '.status.conditions[?(@.type=="Synced")].status' \
        '.status.conditions[?(@.type=="Synced")].reason'
}
synced_is() { [ "$(synced "$1")" = "$2" ]; }
tells() { field repository "$1" .status.lastError | grep -q -i -e "$2"; }
at_commit() { [ "$(field repository "$1" '.status.branches[0].commit')" = "$(g rev-parse HEAD)" ]; }

# hurry NAME: by the webhook.
signature() { printf %s "$1" | openssl dgst -sha256 -hmac "${2:-key}" | sed 's/.* /sha256=/'; }
hurry_at=0
call_hook() {
    curl -sS -m 20 -o hook.out -w '%{http_code}' -X POST "$@"
}
hurry() {
    hurry_at=$((hurry_at + 1))
    is 202 call_hook -H "X-Hub-Signature-256: $(signature "call $hurry_at")" \
        -d "call $hurry_at" "$http/shop/$1.git/webhook"
}

publish() { commit "a change" && g push -q "$@" origin HEAD:main; }

first_commit() {
    map one >origin/one.yaml && map two >origin/two.yaml && publish
}

follows() {
    follow main "$remote_https/default/origin.git" \
        'secretRef: {name: login}, webhookSecretRef: {name: hook}' &&
        until_true synced_is main "True UpToDate" && at_commit main &&
        is 1 field configmap one .data.x && is 2 field repository main .status.resources &&
        is system:serviceaccount:shop:default field repository main .status.lastAdmission.user &&
        is shop/main field configmap one '.metadata.annotations.vedette\.dev/git-repository'
}

# One that follows nothing.
others() {
    k apply -f - <<REPOSITORY
apiVersion: git.vedette.dev/v1
kind: Repository
metadata: {name: hosted}
REPOSITORY
}

# Without a hurry: the interval is 10 s. What comes between the two leaves main alone.
change_one() { map one 2 >origin/one.yaml && publish; }
by_itself() { until_true at_commit main && is 2 field configmap one .data.x; }

clone_and_push() {
    timeout 60 git clone -q "$(url main)" copy &&
        is "$(g rev-parse HEAD)" git -C copy rev-parse HEAD &&
        refuses "push there" timeout 60 git -C copy push -q origin HEAD:other
}
own_refs_are_hidden() { ! git ls-remote "$(url main)" | grep -q vedette; }

by_webhook() {
    map one 3 >origin/one.yaml && publish && hurry main && until_true at_commit main &&
        is 3 field configmap one .data.x
}

bad_calls() {
    body='{"after":"x"}'
    good=$(signature "$body")
    is 403 call_hook -H "X-Hub-Signature-256: $(signature "$body" other)" -d "$body" \
        "$http/shop/main.git/webhook" &&
        is 403 call_hook -H "X-Hub-Signature-256: $good" -d "$body " \
            "$http/shop/main.git/webhook" &&
        is 403 call_hook -d "$body" "$http/shop/main.git/webhook" &&
        is 403 call_hook -H "X-Gitlab-Token: kez" -d "$body" "$http/shop/main.git/webhook" &&
        is 202 call_hook -H "X-Hub-Signature-256: $good" -d "$body" \
            "$http/shop/main.git/webhook" &&
        is 409 call_hook -H "X-Hub-Signature-256: $good" -H "X-GitHub-Delivery: 2" -d "$body" \
            "$http/shop/main.git/webhook" &&
        is 202 call_hook -H "X-Gitlab-Token: key" -d "gitlab" "$http/shop/main.git/webhook" &&
        is 404 call_hook -d "$body" "$http/shop/missing.git/webhook" &&
        is 404 call_hook -d "$body" "$http/shop/hosted.git/webhook" &&
        follow plain "$remote_http/default/origin.git" 'branch: nope' &&
        is 404 call_hook -H "X-Hub-Signature-256: $good" -d "$body" \
            "$http/shop/plain.git/webhook" && k delete repository plain &&
        is 405 curl -sS -m 20 -o hook.out -w '%{http_code}' "$http/shop/main.git/webhook" &&
        head -c 2000000 /dev/zero >large &&
        is 413 call_hook --data-binary @large "$http/shop/main.git/webhook"
}

invalid_keeps() {
    { map one 4; echo "colour: red"; } >origin/one.yaml && good_commit=$(g rev-parse HEAD) &&
        printf 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {p: "S3cr3t!"}\n' \
            >origin/secret.yaml && publish && hurry main &&
        until_true synced_is main "False ManifestsInvalid" &&
        tells main 'one.yaml:7:1: colour' && is 3 field configmap one .data.x &&
        is "$good_commit" field repository main '.status.branches[0].commit' &&
        agree main main
}

# Of a wrong Secret the status, Events and the log have the field, and not the value.
hides_secrets() {
    tells main 'secret.yaml:4:8: data.p: Invalid value: (hidden)' && rm origin/secret.yaml &&
        ! k get repository main -o yaml | grep S3cr3t && ! k get events -o yaml | grep S3cr3t &&
        ! grep S3cr3t err
}

mended() {
    map one 4 >origin/one.yaml && publish && hurry main &&
        until_true synced_is main "True UpToDate" && until_true at_commit main &&
        is 4 field configmap one .data.x && is "" field repository main .status.lastError
}

forced() {
    g reset -q --hard HEAD~2 && map three >origin/three.yaml && rm origin/two.yaml &&
        publish --force && hurry main && until_true at_commit main &&
        absent configmap two && is 1 field configmap three .data.x && agree main main
}

gone_and_back() {
    kill_remote && hurry main && until_true synced_is main "False FetchFailed" &&
        is 1 field configmap three .data.x && start_remote &&
        map three 2 >origin/three.yaml && publish && hurry main &&
        until_true synced_is main "True UpToDate" && until_true at_commit main &&
        is 2 field configmap three .data.x
}

# event FILTER: the audit log has an event of the repository `main` for which jq says true.
event() {
    jq -e -s "any(.[]; .objectRef.resource == \"repositories\" and .objectRef.name == \"main\" and
        .objectRef.namespace == \"shop\" and .stage == \"ResponseComplete\" and ($1))" audit.log
}
of_fetch='.verb == "update" and .objectRef.subresource == "contents" and
    .userAgent == "vedette-git" and .requestURI == "/shop/main.git" and
    .requestReceivedTimestamp < .stageTimestamp'
audited_fetches() {
    until_true event "$of_fetch and .responseStatus.code == 200 and
        .user.username == \"system:serviceaccount:shop:default\" and
        (.responseStatus.message | test(\"^https.*origin.git: admitted \"))" &&
        until_true event "$of_fetch and .responseStatus.code == 422 and
        .responseStatus.reason == \"ManifestsInvalid\" and
        (.responseStatus.message | contains(\"one.yaml:7:1\"))" &&
        until_true event "$of_fetch and .responseStatus.code == 502 and
        .responseStatus.reason == \"FetchFailed\" and .user.username == \"system:vedette:git\""
}
of_call='.verb == "create" and .objectRef.subresource == "webhook" and
    .user.username == "system:anonymous" and .sourceIPs == ["127.0.0.1"] and
    (.userAgent | startswith("curl/"))'
audited_calls() {
    for code in 202 403 409 405; do
        until_true event "$of_call and .responseStatus.code == $code" || return 1
    done
    ! grep -q -e "$remote_token" audit.log
}

missing_branch() {
    follow branchless "$remote_http/default/origin.git" 'secretRef: {name: token}, branch: nope' &&
        until_true synced_is branchless "False FetchFailed" && tells branchless 'nope' &&
        k delete repository branchless
}

wrong_password() {
    follow locked "$remote_http/default/origin.git" 'secretRef: {name: wrong}' &&
        until_true tells locked 'refused the credentials of Secret wrong' &&
        synced_is locked "False FetchFailed" && k delete repository locked
}
no_secret() {
    follow locked "$remote_http/default/origin.git" 'secretRef: {name: missing}' &&
        until_true synced_is locked "False FetchFailed" && tells locked 'no Secret missing' &&
        k delete repository locked
}
wrong_authority() {
    follow locked "$remote_https/default/origin.git" 'secretRef: {name: other-ca}' &&
        until_true synced_is locked "False FetchFailed" && tells locked certificate &&
        k delete repository locked
}

# A server that sends everybody elsewhere.
redirected() {
    cat >relay.mjs <<'RELAY'
import http from 'node:http';
const server = http.createServer((request, response) => {
    response.writeHead(302, { location: process.argv[2] + request.url });
    response.end();
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
RELAY
    node relay.mjs "$remote_http" >relay.port &
    relay_pid=$!
    until_true grep -q . relay.port || return 1
    follow locked "http://127.0.0.1:$(cat relay.port)/default/origin.git" \
        'secretRef: {name: token}' &&
        until_true synced_is locked "False FetchFailed" && tells locked "error: 302" &&
        k delete repository locked
}

# ssh: a program in its place tells what it was called with, and serves the remote's folder.
fake_ssh() {
    mkdir bin && cat >bin/ssh <<SSH && chmod +x bin/ssh
#!/bin/sh
echo "\$@" >$scratch/ssh.arguments
export -p >$scratch/ssh.environment
PATH=/usr/bin:/bin
ls -l \$VEDETTE_SSH_FOLDER >$scratch/ssh.files
stat -c %a \$VEDETTE_SSH_FOLDER >>$scratch/ssh.files
cat \$VEDETTE_SSH_FOLDER/key >$scratch/ssh.key
exec $(command -v git) upload-pack $scratch/plain.git
SSH
    g fetch -q origin && git clone -q --bare origin plain.git &&
        k create secret generic ssh --from-literal=ssh-privatekey=a-private-key \
            --from-literal=known_hosts='example.com ssh-ed25519 AAAA' &&
        k create secret generic half-ssh --from-literal=ssh-privatekey=a-private-key || return 1
    kill_server
    PATH=$scratch/bin:$PATH start_server
}
by_ssh() {
    k create namespace by-ssh && k -n shop get secret ssh -o json |
        jq '.metadata |= {name: .name, namespace: "by-ssh"}' >ssh.json &&
        k -n by-ssh apply -f ssh.json &&
        k -n by-ssh apply -f - <<REPOSITORY && until_true at_ssh_commit &&
apiVersion: git.vedette.dev/v1
kind: Repository
metadata: {name: s}
spec: {remote: {url: "ssh://git@example.com:2222/plain.git", secretRef: {name: ssh}}}
REPOSITORY
        grep -q -e 'StrictHostKeyChecking=yes' ssh.arguments &&
        grep -q -e 'BatchMode=yes' ssh.arguments &&
        grep -q -e 'UserKnownHostsFile=.*/known_hosts' ssh.arguments &&
        grep -q -e '-p 2222 git@example.com git-upload-pack ./plain.git' ssh.arguments &&
        ! grep -q -e a-private-key ssh.arguments ssh.environment &&
        grep -q -e 'VEDETTE_SSH_FOLDER' ssh.environment &&
        ! grep -q -e 'HOME' ssh.environment &&
        is a-private-key cat ssh.key && is 2 grep -c -e '^-rw------- ' ssh.files &&
        is 700 tail -n 1 ssh.files
}
at_ssh_commit() {
    [ "$(k -n by-ssh get repository s -o 'jsonpath={.status.branches[0].commit}')" = \
        "$(git -C plain.git rev-parse main)" ]
}
half_ssh() {
    follow locked ssh://git@example.com/x.git 'secretRef: {name: half-ssh}' &&
        until_true synced_is locked "False FetchFailed" && tells locked known_hosts &&
        k delete repository locked
}
real_ssh() {
    command -v ssh >/dev/null || return 0
    kill_server
    start_server && follow locked ssh://git@127.0.0.1:1/x.git 'secretRef: {name: ssh}' &&
        until_true synced_is locked "False FetchFailed" && tells locked 'connect' &&
        k delete repository locked
}

policy() {
    follow locked "http://192.0.2.1/origin.git" '' &&
        until_true synced_is locked "False Forbidden" && tells locked git.remote-schemes &&
        k delete repository locked &&
        refuses "must be a URL" follow locked "file:///etc" '' &&
        refuses "must be a URL" follow locked "ext::sh -c touch% x" ''
}

no_account() {
    follow locked "$remote_http/default/origin.git" \
        'secretRef: {name: token}, serviceAccountName: nobody' &&
        until_true synced_is locked "False Forbidden" && tells locked 'no ServiceAccount nobody' &&
        k delete repository locked
}

# Another namespace needs the ServiceAccount's right.
foreign() {
    k create namespace other &&
        g checkout -q --orphan foreign && g rm -q -rf . &&
        { map far; } | sed 's/name: far/name: far\n  namespace: other/' >origin/far.yaml &&
        commit far && g push -q origin HEAD:foreign &&
        k apply -f - <<REPOSITORY && until_true synced_is foreign "False Forbidden" &&
apiVersion: git.vedette.dev/v1
kind: Repository
metadata: {name: foreign}
spec:
  scope: {namespaces: [other]}
  remote: {url: "$remote_http/default/origin.git", branch: foreign, interval: 10s,
    secretRef: {name: token}}
REPOSITORY
        tells foreign 'system:serviceaccount:shop:default' &&
        k -n other create rolebinding follower --clusterrole=admin --serviceaccount=shop:default &&
        until_true synced_is foreign "True UpToDate" &&
        k -n other get configmap far && g checkout -q -B main origin/main
}

# No secret is in an argument, a log or the status; no file of one is left.
no_secrets_told() {
    ! grep -r -q -e "$remote_token" err out && ! grep -q -e "$remote_token" gives.out refuses.out &&
        k get repositories -o yaml >all.yaml && ! grep -q -e "$remote_token" all.yaml &&
        until_true no_secret_files
}

# killed FAILPOINT: with a change that the server has not fetched yet.
killed() {
    kill_server
    map three "$1" >origin/three.yaml && publish || return 1
    VEDETTE_FAILPOINT=$1:1 start_server
    hurry main
    until_true is_gone || return 1
    wait "$pid" 2>/dev/null
    start_server && until_true at_commit main && is "$1" field configmap three .data.x &&
        agree main main
}

# fetching: git fetches for the server, or has done so already.
fetching() { pgrep -P "$pid" git >/dev/null || at_commit main; }

killed_while_fetching() {
    kill_server
    map three 5 >origin/three.yaml
    head -c 20000000 /dev/urandom >origin/large
    publish || return 1
    start_server && hurry main && until_true fetching
    kill_server
    start_server && until_true at_commit main && is 5 field configmap three .data.x &&
        agree main main && until_true no_secret_files
}
no_secret_files() { [ -z "$(find data/git -name vedette-remote)" ]; }

# A fetch that takes long does not keep the Repository from being deleted, nor the server from
# ending.
slow() {
    cat >slow.mjs <<'SLOW'
import net from 'node:net';
const server = net.createServer(() => {});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
SLOW
    node slow.mjs >slow.port &
    slow_pid=$!
    until_true grep -q . slow.port || return 1
    slow_url=http://127.0.0.1:$(cat slow.port)/x.git
    follow slow "$slow_url" '' && until_true is_slow && k delete repository slow --timeout=20s &&
        follow slow "$slow_url" '' && until_true is_slow && kill "$pid" && until_true is_gone
    slow_status=$?
    kill "$slow_pid"
    slow_pid=
    start_server && [ "$slow_status" = 0 ] && until_true synced_is slow "False FetchFailed" &&
        k delete repository slow
}
is_slow() { pgrep -P "$pid" -f "fetch.*x.git" >/dev/null; }

metrics() {
    curl -sS -m 20 -H "Authorization: Bearer $token" "$http/metrics" >metrics &&
        grep -q '^vedette_git_fetches_total{result="good"} [1-9]' metrics &&
        grep -q '^vedette_git_fetch_seconds_count [1-9]' metrics &&
        grep -q '^vedette_git_oldest_fetch_timestamp_seconds [1-9]' metrics
}

deleted() {
    k patch repository main --type merge -p '{"spec":{"deletionPolicy":"Cascade"}}' &&
        k delete repository main --timeout=50s && absent configmap three
}

tap "the remote starts" start_remote
tap "with a repository" make_origin
tap "the server starts" start_server --audit-log audit.log
tap "a namespace and a token" open_shop
tap "secrets" make_secrets
tap "a commit of the remote" first_commit
tap "its manifests become objects, over TLS with its own authority" follows
tap "another repository" others
tap "a change" change_one
tap "a branch that is not there" missing_branch
tap "a wrong password" wrong_password
tap "a Secret that is not there" no_secret
tap "another authority's certificate" wrong_authority
tap "a redirect is not followed" redirected
tap "only URLs that the policy allows" policy
tap "a ServiceAccount that is not there" no_account
tap "the change is noticed" by_itself
tap "it can be cloned and not be pushed to" clone_and_push
tap "the ref of the fetch is not shown" own_refs_are_hidden
tap "a webhook hurries it" by_webhook
tap "wrong, repeated, large and lost calls of the webhook" bad_calls
tap "wrong manifests leave the last good state" invalid_keeps
tap "a wrong Secret is in no status, Event and log" hides_secrets
tap "until they are mended" mended
tap "a forced push of the remote" forced
tap "the remote goes away and comes back" gone_and_back
tap "fetches are audited" audited_fetches
tap "calls of the webhook are audited" audited_calls
tap "a program in the place of ssh" fake_ssh
tap "ssh gets its key and knows its hosts" by_ssh
tap "ssh without known hosts" half_ssh
tap "ssh to where nobody listens" real_ssh
tap "another namespace needs the ServiceAccount's right" foreign
tap "killed before a fetch" killed git.before_fetch
tap "killed behind a fetch" killed git.after_fetch
tap "killed before the batch" killed git.before_batch
tap "killed behind the batch" killed git.after_batch
tap "killed while it fetches" killed_while_fetching
tap "no secret is told, and no file of one is left" no_secrets_told
tap "a slow remote holds nobody" slow
tap "metrics" metrics
tap "deleted with its objects" deleted
tap_end
