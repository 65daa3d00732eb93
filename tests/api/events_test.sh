#!/bin/sh
# Events are the same objects in v1 and in events.k8s.io; field selectors name them as each does.
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
older=/api/v1/namespaces/default/events
newer=/apis/events.k8s.io/v1/namespaces/default/events
tap "a server starts" start

# old NAME OBJECT COMPONENT: an event of v1.
old() {
    post "$older" Event "\"metadata\":{\"name\":\"$1\"},\"type\":\"Normal\",\"reason\":\"Old\",
        \"involvedObject\":{\"kind\":\"ConfigMap\",\"namespace\":\"default\",\"name\":\"$2\"},
        \"source\":{\"component\":\"$3\"}"
}
# new NAME OBJECT CONTROLLER: an event of events.k8s.io.
new() {
    post "$newer" Event "\"metadata\":{\"name\":\"$1\"},\"type\":\"Warning\",\"reason\":\"New\",
        \"regarding\":{\"kind\":\"ConfigMap\",\"namespace\":\"default\",\"name\":\"$2\"},
        \"eventTime\":\"2024-01-01T00:00:00.000000Z\",\"action\":\"Try\",
        \"reportingController\":\"$3\",\"reportingInstance\":\"one\""
}

# selects PATH SELECTOR NAME...: a list by this field selector has just these.
selects() {
    selects_path=$1
    selects_selector=$2
    shift 2
    selects_got=$(admin "$selects_path" -G --data-urlencode "fieldSelector=$selects_selector" |
        tee selects.out | jq -r '[.items[].metadata.name] | join(" ")')
    [ "$selects_got" = "$*" ] && return 0
    echo "$selects_selector: $selects_got"
    cat selects.out
    return 1
}
# refuses PATH FIELD: which this kind does not have.
refuses() {
    [ "$(admin "$1" -G --data-urlencode "fieldSelector=$2=x" | jq -r '"\(.code) \(.message)"')" = \
        "400 field label not supported: $2" ]
}

# The newest events that a new watch brings, by their selector, in a file.
follow() { watch "$1" --cert data/pki/admin.crt --key data/pki/admin.key -G "$https$2" \
    -d watch=true -d resourceVersion=1 --data-urlencode "fieldSelector=$3"; }

tap "an event of v1" old o1 a kubelet
tap "another" old o2 b scheduler
tap "an event of events.k8s.io" new n1 a example.com/one
tap "another one" new n2 b example.com/two

tap "v1: the object" selects $older involvedObject.name=a n1 o1
tap "v1: not the object" selects $older 'involvedObject.name!=a,involvedObject.kind=ConfigMap' n2 o2
tap "v1: reason" selects $older reason=New n1 n2
tap "v1: type" selects $older type=Normal o1 o2
tap "v1: the component" selects $older source=kubelet o1
tap "v1: the controller, where there is no component" selects $older source=example.com/one n1
tap "v1: the reporting component" selects $older reportingComponent=example.com/two n2
tap "v1: no field of the other" refuses $older regarding.name

tap "events.k8s.io: the object" selects $newer regarding.name=a n1 o1
tap "events.k8s.io: not the object" selects $newer 'regarding.name!=a,regarding.kind=ConfigMap' \
    n2 o2
tap "events.k8s.io: reason" selects $newer reason=Old o1 o2
tap "events.k8s.io: source" selects $newer source=scheduler o2
tap "events.k8s.io: the controller" selects $newer reportingController=example.com/one n1
tap "events.k8s.io: name" selects $newer metadata.name=o1,regarding.name=a o1
tap "events.k8s.io: no field of the other" refuses $newer involvedObject.name

# seen FILE NAME...: the watch in this file has brought these, in this order.
seen() {
    seen_got=$(jq -r .object.metadata.name "$1" | tr '\n' ' ')
    shift
    [ "$seen_got" = "$* " ] || { echo "$seen_got"; return 1; }
}
follow of-a "$newer" regarding.name=a
follow of-b "$older" source=example.com/two
tap "a watch of events.k8s.io" until_true seen of-a o1 n1
tap "a watch of v1" until_true seen of-b n2
tap "one more" new n3 a example.com/two
tap "is seen by the one" until_true seen of-a o1 n1 n3
tap "and by the other" until_true seen of-b n2 n3

# A controller may read what it may write.
token=$("$vedette" token create --data data --user c --groups system:controllers)
reads() { [ "$(as "$token" "$1" -o reads.out -w '%{http_code}')" = 200 ]; }
tap "a controller reads events of v1" until_true reads $older
tap "and of events.k8s.io" reads $newer
tap_end
