#!/bin/sh
# Validation rules with kubectl: a definition with thirty of them, what each takes and refuses;
# rules that a definition may not have; objects that were wrong before there was a rule.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/kubectls.sh
. "$here/kubectls.sh"

crd=customresourcedefinition.apiextensions.k8s.io
k() { timeout 60 "$kubectl" "$@"; }

# database NAME SPEC: the usual one with these fields of spec on top.
database() {
    jq -n -c --arg name "$1" --argjson more "$2" '{apiVersion: "cel.example.com/v1",
        kind: "Database", metadata: {name: $name},
        spec: ({engine: "pg", replicas: 1, maxReplicas: 3,
        storage: {class: "fast"}, version: 5} * $more | del(..|nulls))}'
}

# takes SPEC: such a database could be created.
takes() { database ok "$1" | gives 'database.cel.example.com/ok created (server dry run)' \
    k create --dry-run=server -f -; }

# refuses_spec TEXT SPEC [NAME]
refuses_spec() { database "${3:-bad}" "$2" | refuses "$1" k create --dry-run=server -f -; }

# change SPEC: a merge patch of the one that there is.
change() { k patch db main --type=merge -p "{\"spec\":$1}"; }

try_creating() {
    tap "the plainest is taken" takes '{}'
    tap "bounds across fields" refuses_spec \
        'spec: Invalid value: "object": replicas must not exceed maxReplicas' '{"replicas":4}'
    tap "one of two: both" refuses_spec 'one of storage and ephemeral' '{"ephemeral":{}}'
    tap "one of two: none" refuses_spec 'one of storage and ephemeral' '{"storage":null}'
    tap "one of two: the other" takes '{"storage":null,"ephemeral":{}}'
    tap "a field that another one needs" refuses_spec 'tls needs a certificate' '{"tls":true}'
    tap "and has" takes '{"tls":true,"certificate":"c"}'
    tap "a mode's field" refuses_spec "failed rule: self.mode != 'Manual' || has(self.schedule)" \
        '{"mode":"Manual"}'
    tap "unique items" refuses_spec 'ports are unique' \
        '{"ports":[{"name":"a","number":1},{"name":"b","number":1}]}'
    tap "items that differ" takes '{"ports":[{"name":"a","number":1},{"name":"b","number":2}]}'
    tap "every item" refuses_spec 'no blanks in users' '{"users":["a","b c"]}'
    tap "quantities" refuses_spec 'request is above limit' '{"request":"1Gi","limit":"1000M"}'
    tap "quantities in order" takes '{"request":"1Gi","limit":"1.5Gi"}'
    tap "what is no quantity" refuses_spec 'evaluating rule: request is above limit' \
        '{"request":"much","limit":"1"}'
    tap "reason and field" refuses_spec 'spec.owner: Required value: somebody has to pay' \
        '{"engine":"paid"}'
    tap "an expression's message" refuses_spec '4 backups for 3 replicas' \
        '{"backups":["1","2","3","4"]}'
    tap "keys of a map" refuses_spec 'labels of the app' '{"labels":{"x":"y"}}'
    tap "values of a map" refuses_spec 'spec.labels[app.x]: Invalid value: "string": empty' \
        '{"labels":{"app.x":""}}'
    tap "an address in its network" takes '{"address":"10.1.2.3"}'
    tap "and outside" refuses_spec 'the address is outside of the network' '{"address":"11.0.0.1"}'
    tap "a URL" takes '{"endpoint":"https://example.com/x"}'
    tap "of another scheme" refuses_spec 'failed rule: !has(self.endpoint) ||' \
        '{"endpoint":"http://example.com"}'
    tap "durations" refuses_spec 'the window is too long' '{"window":"6h1s"}'
    tap "times" refuses_spec 'from before to' \
        '{"from":"2026-01-01T00:00:00Z","to":"2026-01-01T00:00:00+01:00"}'
    tap "a number or a text: a number" takes '{"surge":1}'
    tap "a number or a text: a text" takes '{"surge":"25%"}'
    tap "a number or a text: another" refuses_spec 'surge is a number or a percentage' \
        '{"surge":"much"}'
    tap "sets" refuses_spec \
        "failed rule: !has(self.features) || sets.contains(['a', 'b', 'c'], self.features)" \
        '{"features":["a","z"]}'
    tap "a format" refuses_spec 'a lowercase RFC 1123 label must consist of' '{"alias":"A_B"}'
    tap "the order of a list" refuses_spec 'spec: Forbidden: tags are sorted' '{"tags":["b","a"]}'
    tap "a first state" refuses_spec 'not paused at first' '{"paused":true}'
    tap "a regular expression" refuses_spec \
        'spec.password: Invalid value: "string": a digit is missing' \
        '{"password":"abc"}'
    tap "a choice" refuses_spec \
        "spec.region: Invalid value: \"string\": failed rule: self in ['eu', 'us']" \
        '{"region":"mars"}'
    tap "an item's field" refuses_spec 'spec.ports[1].number: Forbidden: not ssh' \
        '{"ports":[{"name":"a","number":1},{"name":"b","number":22}]}'
    tap "the name" refuses_spec 'names have at most 20 characters' '{}' a-name-that-is-far-too-long
    tap "the name and a field" refuses_spec 'the alias is the name' '{"alias":"same"}' same
    tap "a value of the wrong type keeps the rules from being asked" refuses_spec \
        'some validation rules were not checked because the object was invalid' \
        '{"replicas":"many"}'
}

try_changing() {
    database main '{"ports":[{"name":"a","number":1}]}' >main.json
    tap "one is created" gives database.cel.example.com/main\ created k create -f main.json
    tap "what is immutable stays" refuses \
        'spec.engine: Invalid value: "object": engine is immutable' \
        change '{"engine":"my"}'
    tap "what only grows does not shrink" refuses 'self.version >= oldSelf.version' change \
        '{"version":4}'
    tap "it grows" gives 'database.cel.example.com/main patched' change '{"version":6}'
    tap "nor does it go" refuses 'self.version >= oldSelf.version' change '{"version":null}'
    tap "below it, too" refuses 'spec.storage: Invalid value: "object": the class stays' \
        change '{"storage":{"class":"slow"}}'
    tap "items have a past by their keys" refuses \
        'spec.ports[1]: Invalid value: "object": the protocol stays' \
        change '{"ports":[{"name":"b","number":2},{"name":"a","number":1,"protocol":"UDP"}]}'
    tap "and new ones have none" gives 'database.cel.example.com/main patched' \
        change '{"ports":[{"name":"b","number":2,"protocol":"UDP"},{"name":"a","number":1}]}'
    tap "paused later is fine" gives 'database.cel.example.com/main patched' change \
        '{"paused":true}'
    tap "a status has its rules" refuses \
        'status: Invalid value: "object": failed rule: self.ready <= self.total' \
        k patch db main --subresource=status --type=merge -p '{"status":{"ready":2,"total":1}}'
}

# A definition whose rule is this one, on a field of this schema.
definition() {
    jq -n -c --argjson schema "$1" --arg rule "$2" '{apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition", metadata: {name: "olds.cel.example.com"}, spec: {
        group: "cel.example.com", scope: "Namespaced", names: {kind: "Old", plural: "olds"},
        versions: [{name: "v1", served: true, storage: true, schema: {openAPIV3Schema: {
        type: "object", properties: {spec: {type: "object",
        properties: {n: {type: "integer"}, m: {type: "integer"}, x: $schema},
        "x-kubernetes-validations": (if $rule == "" then [] else [{rule: $rule}] end)}}}}}]}}'
}
refuses_definition() { definition "$2" "$3" | refuses "$1" k create -f -; }

try_definitions() {
    at='spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule'
    tap "a rule that names nothing" refuses_definition "undefined field 'foo'" \
        '{"type":"string"}' 'self.foo'
    tap "with its place" refuses_definition "$at: Invalid value" '{"type":"string"}' 'self.foo'
    tap "a rule of the wrong type" refuses_definition 'cel expression must evaluate to a bool' \
        '{"type":"string"}' 'self.x'
    tap "a rule that is no expression" refuses_definition 'ERROR: <input>:1:10: Syntax error' \
        '{"type":"string"}' 'self.x =='
    dear='{"type":"array","items":{"type":"string"}}'
    tap "a rule that may cost too much" refuses_definition \
        "$at: Forbidden: estimated rule cost exceeds budget by factor of more than 100x" \
        "$dear" 'self.x.all(a, self.x.all(b, a == b))'
    tap "the same with bounds" gives \
        "$crd/olds.cel.example.com created (server dry run)" \
        bounded
}
bounded() {
    definition '{"type":"array","maxItems":10,"items":{"type":"string","maxLength":10}}' \
        'self.x.all(a, self.x.all(b, a == b))' | k create --dry-run=server -f -
}

# An object from before the rule is not stuck.
old() { k patch old it --type=merge -p "$1"; }
tighten() { definition '{"type":"string"}' 'self.n > 5' | k apply -f -; }
try_ratcheting() {
    definition '{"type":"string"}' '' >olds.json
    tap "a definition without rules" shows created k apply -f olds.json
    tap "an object of it" shows created k create -f - <<END
{"apiVersion":"cel.example.com/v1","kind":"Old","metadata":{"name":"it"},"spec":{"n":1}}
END
    tap "the rule comes" shows configured tighten
    tap "a new object has to follow it" refuses 'failed rule: self.n > 5' k create -f - <<END
{"apiVersion":"cel.example.com/v1","kind":"Old","metadata":{"name":"new"},"spec":{"n":1}}
END
    tap "the old one may change elsewhere" gives 'old.cel.example.com/it patched' \
        old '{"metadata":{"labels":{"a":"b"}}}'
    tap "with a warning" gives \
        'Warning: spec: Invalid value: "object": failed rule: self.n > 5' \
        old '{"metadata":{"labels":{"a":"c"}}}'
    tap "not where the rule is" refuses 'failed rule: self.n > 5' old '{"spec":{"m":1}}'
    tap "but for the better" gives 'old.cel.example.com/it patched' old '{"spec":{"n":6}}'
}

newest_kubectl
[ "$(minor "$kubectl")" -ge 24 ] || skip_all "no kubectl of 1.24 or newer"
tap "a server starts" start_server
tap "a definition with thirty rules" gives \
    "$crd/databases.cel.example.com created" \
    k create -f "$here/cel/crd.yaml"
try_creating
try_changing
try_definitions
try_ratcheting
tap "the server is still there" kill -0 "$pid"
tap_end
