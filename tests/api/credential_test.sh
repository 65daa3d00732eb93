#!/bin/sh
# Credentials, exact to the moment: a token is good as soon as it has been made, and one of a
# ServiceAccount is not once its account, or what it is bound to, is gone.
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"

me=/apis/authentication.k8s.io/v1/selfsubjectreviews
# is TOKEN STATUS: what the server says to it, once.
is() {
    is_code=$(as "$1" $me -o is.out -w '%{http_code}' -H 'Content-Type: application/json' -d \
        '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}')
    [ "$is_code" = "$2" ] && return 0
    echo "status $is_code"
    cat is.out
    return 1
}

tap "a server starts" start

# ---- tokens ----

at_once() {
    for i in 1 2 3 4 5 6 7 8 9 10; do
        is "vd_0000000000000000000000000000000000000000000" 401 || return 1
        token=$("$vedette" token create --data data --user "user-$i") || return 1
        is "$token" 201 || return 1
        grep -q "\"username\": *\"user-$i\"" is.out || { cat is.out; return 1; }
    done
}
tap "a token is good as soon as it has been made" at_once
tap "one that never was is not" is "vd_0000000000000000000000000000000000000000000" 401

# ---- accounts ----

accounts=/api/v1/namespaces/default/serviceaccounts
# token_for ACCOUNT SPEC: a token, in $token.
token_for() {
    admin $accounts/"$1"/token -H 'Content-Type: application/json' -d \
        "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenRequest\",\"spec\":{$2}}" \
        >token.out
    token=$(sed -n 's/.*"token": *"\([^"]*\)".*/\1/p' token.out)
    [ -n "$token" ] && return 0
    cat token.out
    return 1
}
account() { post $accounts ServiceAccount "\"metadata\":{\"name\":\"$1\"}"; }
# uid PATH
uid() { admin "$1" | sed -n 's/.*"uid": *"\([^"]*\)".*/\1/p' | head -n 1; }
good_often() { for i in 1 2 3 4 5 6 7 8 9 10 11 12; do is "$1" 201 || return 1; done; }

tap "an account" account robot
tap "has a token" token_for robot ''
robot=$token
old_uid=$(uid $accounts/robot)
tap "which is good, again and again" good_often "$robot"
broken=$(echo "$robot" | sed 's/.$/-/')
tap "one that is not quite it is not" is "$broken" 401
tap "the account goes" [ "$(admin $accounts/robot -X DELETE -o /dev/null -w '%{http_code}')" = 200 ]
tap "its token with it, at once" is "$robot" 401
tap "another account of that name" account robot
tap "does not bring it back" is "$robot" 401
admin $accounts/robot -X DELETE >/dev/null
tap "nor does one with a label that says the old uid" post $accounts ServiceAccount \
    "\"metadata\":{\"name\":\"robot\",\"labels\":{\"uid\":\"$old_uid\"}}"
tap "whose token stays dead" is "$robot" 401

refused() {
    refused_code=$(admin $accounts/robot/token -o refused.out -w '%{http_code}' \
        -H 'Content-Type: application/json' -d '{"apiVersion":"authentication.k8s.io/v1",
        "kind":"TokenRequest","spec":{"boundObjectRef":'"$2}}")
    [ "$refused_code" = "$1" ] && grep -q -F "$3" refused.out && return 0
    cat refused.out
    return 1
}
tap "nothing is bound to what is not there" refused 404 \
    '{"kind":"Secret","apiVersion":"v1","name":"bond"}' 'secrets \"bond\" not found'
tap "nor to just anything" refused 400 '{"kind":"ConfigMap","apiVersion":"v1","name":"bond"}' \
    'cannot bind token to object of type /v1, Kind=ConfigMap'
tap "a secret" post /api/v1/namespaces/default/secrets Secret '"metadata":{"name":"bond"}'
tap "nor to another" refused 409 \
    '{"kind":"Secret","apiVersion":"v1","name":"bond","uid":"00000000-0000-4000-8000-00000000"}' \
    'Operation cannot be fulfilled on Secret \"bond\": the UID in the bound object reference'
bond=$(uid /api/v1/namespaces/default/secrets/bond)
bond="{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"name\":\"bond\",\"uid\":\"$bond\"}"
tap "a token that is bound to it" token_for robot "\"boundObjectRef\":$bond"
bound=$token
tap "is good, again and again" good_often "$bound"
tap "another secret" post /api/v1/namespaces/default/secrets Secret '"metadata":{"name":"other"}'
admin /api/v1/namespaces/default/secrets/other -X DELETE >/dev/null
tap "goes, which changes nothing" is "$bound" 201
rbac=/apis/rbac.authorization.k8s.io/v1
tap "its account may watch" post $rbac/namespaces/default/rolebindings RoleBinding '"metadata":{
    "name":"robot"},"subjects":[{"kind":"ServiceAccount","name":"robot","namespace":"default"}],
    "roleRef":{"kind":"ClusterRole","name":"view","apiGroup":"rbac.authorization.k8s.io"}'
may_list() { as "$bound" /api/v1/namespaces/default/configmaps | grep -q ConfigMapList; }
tap "as soon as the rules are in force" until_true may_list
watch robot.events -H "Authorization: Bearer $bound" \
    "$https/api/v1/namespaces/default/configmaps?watch=1"
tap "it watches" until_true grep -q '"ADDED"' robot.events
admin /api/v1/namespaces/default/secrets/bond -X DELETE >/dev/null
tap "the secret goes, and the token with it" is "$bound" 401

ended() { ! kill -0 "$stream" 2>/dev/null && tail -n 1 robot.events | grep -q '"code":401'; }
tap "and the watch" until_true ended

# ---- certificates ----

# Two requests on one connection are the same user's.
twice() {
    curl -sS -m 60 --cacert data/pki/ca.crt --cert data/pki/admin.crt --key data/pki/admin.key \
        -H 'Content-Type: application/json' -d \
        '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}' \
        "$https$me" "$https$me" >twice.out
    [ "$(grep -c '"username"' twice.out)" -eq 2 ] && [ "$(grep -o '"username": *"[^"]*"' twice.out |
        sort -u | wc -l)" -eq 1 ] && return 0
    cat twice.out
    return 1
}
tap "a certificate is who it is for the whole connection" twice
# A bearer token on the connection of a certificate is asked about itself.
mixed() {
    fresh=$("$vedette" token create --data data --user mixed)
    curl -sS -m 60 --cacert data/pki/ca.crt --cert data/pki/admin.crt --key data/pki/admin.key \
        -H 'Content-Type: application/json' -d \
        '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}' \
        "$https$me" --next -sS -m 60 --cacert data/pki/ca.crt --cert data/pki/admin.crt \
        --key data/pki/admin.key -H "Authorization: Bearer $fresh" \
        -H 'Content-Type: application/json' -d \
        '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}' \
        "$https$me" >mixed.out
    grep -q '"username": *"mixed"' mixed.out && [ "$(grep -o '"username": *"[^"]*"' mixed.out |
        sort -u | wc -l)" -eq 2 ] && return 0
    cat mixed.out
    return 1
}
tap "and a token on it is its own" mixed
tap "the server stops" stop
tap_end
