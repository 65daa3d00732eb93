#!/bin/sh
# The audit log: what is in its lines, what a policy makes of them, rotation, and what happens when
# it cannot be written.
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
rbac=/apis/rbac.authorization.k8s.io/v1
configmaps=/api/v1/namespaces/default/configmaps

# event FILTER: the audit log has an event for which the expression (of node, about `e`) is true;
# it is printed.
cat >event.mjs <<'END'
import fs from 'node:fs';
const [file, filter, count] = process.argv.slice(2);
const lines = fs.readFileSync(file, 'utf8').split('\n').filter(Boolean);
const events = lines.map((line) => JSON.parse(line));
const found = events.filter((e) => { try { return eval(filter); } catch { return false; } });
for (const e of found) console.log(JSON.stringify(e));
process.exit((count === undefined ? found.length > 0 : found.length === Number(count)) ? 0 : 1);
END
event() { until_true node event.mjs "${log:-audit.log}" "$@" && cp until.out event.out; }
never() { ! node event.mjs "${log:-audit.log}" "$1"; }
metric() { admin /metrics | awk -v name="$1" '$1 == name { print $2 }'; }
metric_above() { [ "$(metric "$1")" -gt "$2" ]; }

# ---- without a policy: the metadata of all requests ----

tap "a server with an audit log" start --audit-log audit.log
tap "its mode is 0600" test "$(stat -c %a audit.log)" = 600
tap "a write" configmap a
tap "is in it" event "e.verb === 'create' && e.objectRef.resource === 'configmaps'" 1
tap "in Kubernetes' form" event "e.kind === 'Event' && e.apiVersion === 'audit.k8s.io/v1' &&
    e.level === 'Metadata' && e.stage === 'ResponseComplete' && e.verb === 'create' &&
    e.requestURI === '$configmaps' && /^[0-9a-f-]{36}\$/.test(e.auditID) &&
    e.user.username === 'admin' && e.user.groups.includes('system:masters') &&
    e.sourceIPs.join() === '127.0.0.1' && e.userAgent.startsWith('curl/') &&
    e.objectRef.namespace === 'default' && e.objectRef.name === 'a' &&
    e.objectRef.apiVersion === 'v1' && e.responseStatus.code === 201 &&
    !e.requestObject && !e.responseObject &&
    /^20..-..-..T..:..:..\.[0-9]{6}Z\$/.test(e.requestReceivedTimestamp) &&
    e.stageTimestamp >= e.requestReceivedTimestamp &&
    e.annotations['authorization.k8s.io/decision'] === 'allow' &&
    'authorization.k8s.io/reason' in e.annotations"
headers() { admin "$configmaps/a" -D headers -o body "$@" && grep -i '^audit-id: ' headers; }
tap "the answer names its event" headers
id=$(sed -n 's/^[Aa]udit-[Ii]d: \([^\r]*\).*/\1/p' headers)
tap "which is there" event "e.auditID === '$id' && e.verb === 'get'" 1
tap "a client's own id" headers -H 'Audit-ID: my-trace.1'
tap "is kept" event "e.auditID === 'my-trace.1'" 1
tap "one that is none" headers -H 'Audit-ID: a b"c'
tap "is not" never "e.auditID.includes(' ')"
ann=$("$vedette" token create --data data --user ann --groups dev)
as "$ann" "$configmaps/a" >/dev/null
tap "a refusal is forbidden" event "e.user.username === 'ann' && e.responseStatus.code === 403 &&
    e.responseStatus.reason === 'Forbidden' && e.responseStatus.message.includes('cannot get') &&
    e.annotations['authorization.k8s.io/decision'] === 'forbid'"
as nonsense "$configmaps/a" -H 'Audit-ID: who-is-it' -D headers >/dev/null
tap "a 401 names its event, too" grep -qi '^audit-id: who-is-it' headers
tap "so is who is not known" event "e.auditID === 'who-is-it' &&
    e.responseStatus.code === 401 && !e.user.username &&
    e.stage === 'ResponseStarted' && e.objectRef.name === 'a'"
admin "$configmaps/a" -H 'Impersonate-User: bob' >/dev/null
tap "who speaks for another, with both" event "e.user.username === 'admin' &&
    e.impersonatedUser.username === 'bob' && e.responseStatus.code === 403"
as "$ann" "$configmaps/a" -H 'Impersonate-User: bob' >/dev/null
tap "and who may not" event "e.user.username === 'ann' && e.responseStatus.code === 403 &&
    e.responseStatus.message.includes('impersonate')"
admin "$configmaps/none?x=%22%0a%ff" -A "$(printf 'agent\303\050"\134')" \
    -H 'X-Forwarded-For: 192.0.2.7, junk, 2001:db8::1' >/dev/null
tap "odd bytes do not break a line" event "e.userAgent.startsWith('agent') &&
    e.responseStatus.code === 404 && e.sourceIPs.join() === '192.0.2.7,2001:db8::1,127.0.0.1'"
admin '/apis?x=1' >/dev/null
tap "paths that are no resources" event "e.requestURI === '/apis?x=1' &&
    !e.objectRef && e.verb === 'get'"
watch a.events --cert data/pki/admin.crt --key data/pki/admin.key \
    "$https$configmaps?watch=1&timeoutSeconds=1"
tap "a watch has begun" event "e.verb === 'watch' && e.stage === 'ResponseStarted' &&
    e.responseStatus.code === 200" 1
tap "and ends" event "e.verb === 'watch' && e.stage === 'ResponseComplete'" 1
tap "no line tells of the beginning of a request" never "e.stage === 'RequestReceived'"
tap "nor a token" sh -c "! grep -q '$ann' audit.log"

# ---- rotation ----

mv audit.log audit.1
kill -HUP "$server"
tap "SIGHUP opens the file again" until_true test -e audit.log
tap "another write" configmap b
tap "is in the new file" event "e.objectRef.name === 'b'"
before=$(cat audit.1 audit.log | wc -l)
i=0
while [ $i -lt 200 ]; do
    printf 'url = "%s%s/a"\noutput = /dev/null\n' "$https" "$configmaps"
    i=$((i + 1))
done >many.curl
admin /api -K many.curl >many.out 2>&1 &
asking=$!
for n in 2 3 4 5; do
    mv audit.log "audit.$n"
    kill -HUP "$server"
    until_true test -e audit.log
done
wait $asking
complete() { [ "$(cat audit.? audit.log | wc -l)" -eq $((before + 201)) ]; }
tap "no line is lost by rotation" until_true complete
tap "the server stops" stop

# ---- a policy ----

cat >policy.yaml <<'END'
apiVersion: audit.k8s.io/v1
kind: Policy
omitManagedFields: true
rules:
- level: None
  users: [ann]
- level: None
  nonResourceURLs: ["/metrics", "/api*"]
- level: RequestResponse
  omitStages: [RequestReceived]
  resources:
  - group: ""
    resources: [configmaps]
    resourceNames: [whole]
- level: Request
  verbs: [create, patch, delete]
  namespaces: [default]
  resources:
  - group: ""
- level: Metadata
  resources:
  - group: "rbac.authorization.k8s.io"
END
rm -f audit.*
tap "a server with a policy" start --audit-log audit.log --audit-policy policy.yaml
tap "a write" post $configmaps ConfigMap '"metadata":{"name":"whole"},"data":{"k":"v"}'
tap "has its object" event "e.level === 'Request' && e.stage === 'ResponseComplete' &&
    e.requestObject.data.k === 'v' && !e.responseObject && e.objectRef.name === 'whole'" 1
tap "and was told when it came" event "e.level === 'Request' && e.stage === 'RequestReceived' &&
    e.verb === 'create' && !e.responseStatus"
admin $configmaps/whole >/dev/null
tap "a read has the answer" event "e.level === 'RequestResponse' && e.verb === 'get' &&
    e.responseObject.data.k === 'v' && e.responseObject.metadata.name === 'whole'" 1
admin $configmaps/whole -X PATCH -H 'Content-Type: application/merge-patch+json' \
    -d '{"metadata":{"managedFields":[]},"data":{"k":"w"}}' >/dev/null
tap "a patch is as it was sent" event "e.verb === 'patch' && e.level === 'RequestResponse' &&
    e.requestObject.data.k === 'w' && !('managedFields' in e.requestObject.metadata) &&
    e.responseObject.data.k === 'w' && !('managedFields' in e.responseObject.metadata)"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yam}\ndata:\n  two: |\n    lines\n' \
    >yam.yaml
admin $configmaps -H 'Content-Type: application/yaml' --data-binary @yam.yaml >/dev/null
tap "YAML is JSON" event "e.requestObject?.metadata.name === 'yam' &&
    e.requestObject.data.two === 'lines\n'"
as "$ann" $configmaps/whole >/dev/null
tap "who is left out is" never "e.user.username === 'ann'"
tap "so is what nobody asked for" never "e.requestURI.startsWith('/metrics')"
admin $rbac/clusterroles/view >/dev/null
tap "another group by its metadata" event "e.objectRef.name === 'view' && e.level === 'Metadata'"

printf 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: All\n' >policy.yaml
kill -HUP "$server"
tap "a bad policy is told" until_true grep -q \
    'could not load the audit policy again; the old one stays.*policy.yaml:4:3: level wants' err
admin $configmaps/whole?bad >/dev/null
tap "and the old one stays" event "e.requestURI.endsWith('?bad') && e.level === 'RequestResponse'"
printf 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- {level: Metadata, users: [ann]}\n' \
    >policy.yaml
kill -HUP "$server"
other() {
    as "$ann" $configmaps/whole >/dev/null
    node event.mjs audit.log "e.user.username === 'ann'"
}
tap "a good one is taken" until_true other
tap "the server stops" stop

# ---- files that are none ----

refuses() {
    complains "$1" timeout 20 "$vedette" serve --data data --listen off --tls-listen 127.0.0.1:0 \
        --audit-log "$2" --audit-policy "$3"
}
printf 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: All\n' >bad.yaml
tap "a bad policy is refused at start" refuses 'bad.yaml:4:3: level wants None' audit.log bad.yaml
tap "so is one that is not there" refuses 'none.yaml' audit.log none.yaml
tap "and a log that cannot be" refuses 'could not open the audit log /nowhere/audit.log' \
    /nowhere/audit.log policy.yaml
printf 'audit-log: audit.log\naudit-policy: bad.yaml\n' >vedette.yaml
tap "the check of a configuration finds it" complains 'bad.yaml:4:3: level wants' \
    "$vedette" config check vedette.yaml
printf 'authentication-config: bad.yaml\n' >vedette.yaml
tap "issuers too" complains 'wants apiVersion: apiserver.config.k8s.io/v1 and kind' \
    "$vedette" config check vedette.yaml

# ---- a log that cannot be written ----

tap "a full disk" start --audit-log /dev/full
tap "stops nobody" configmap c
tap "is counted" until_true metric_above vedette_audit_errors_total 0
tap "and told" until_true grep -q 'audit events could not be written.*No space left' err
tap "the server stops" stop

tap "the standard output" start --audit-log -
tap "has the lines" configmap d
tap "too" until_true grep -q '"kind":"Event".*"name":"d"' out
tap "the server stops" stop

# ---- a reader that does not read ----

printf 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: RequestResponse}]\n' >policy.yaml
mkfifo pipe
tap "a pipe that nobody reads" start --audit-log pipe --audit-policy policy.yaml
head -c 900000 /dev/zero | tr '\0' x >large
printf '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large"},"data":{"x":"%s"}}' \
    "$(cat large)" >large.json
tap "takes a large object" test "$(admin $configmaps -o large.out -w '%{http_code}' \
    -H 'Content-Type: application/json' --data-binary @large.json)" = 201
fill() {
    fill_i=0
    while [ $fill_i -lt 30 ]; do
        [ "$(admin $configmaps/large -o large.out -w '%{http_code}')" = 200 ] || return 1
        fill_i=$((fill_i + 1))
    done
}
tap "requests are answered all the same" fill
tap "what does not fit is counted" until_true metric_above vedette_audit_dropped_total 0
tap "and told" until_true grep -q 'audit events were dropped: the log could not follow' err
tap "the server stops in spite of it" stop

tap "a pipe, blocking" start --audit-log pipe --audit-policy policy.yaml --audit-mode blocking
cat pipe >piped &
streams="$streams $!"
tap "requests are answered when somebody reads" fill
all() { [ "$(grep -c '"stage":"ResponseComplete".*"verb":"get"' piped)" -ge 30 ]; }
tap "nothing is dropped" until_true all
tap "the server stops" stop
tap_end
