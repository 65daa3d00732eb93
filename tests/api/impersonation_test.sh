#!/bin/sh
# Speaking for somebody else: who may, for whom, and what the request is then worth.
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
rbac=/apis/rbac.authorization.k8s.io/v1
me=/apis/authentication.k8s.io/v1/selfsubjectreviews
maps=/api/v1/namespaces/default/configmaps

# says TOKEN STATUS TEXT HEADER...: to a SelfSubjectReview with these headers; the answer, on one
# line and without blanks, has the text.
says() {
    says_token=$1 says_status=$2 says_text=$3
    shift 3
    for says_header; do
        shift
        set -- "$@" -H "$says_header"
    done
    says_code=$(as "$says_token" $me -o says.out -w '%{http_code}' "$@" \
        -H 'Content-Type: application/json' -H 'User-Agent: test' \
        -d '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}')
    [ "$says_code" = "$says_status" ] && grep -q -F -e "$says_text" says.out && return 0
    echo "status $says_code"
    cat says.out
    return 1
}

# grant NAME RULES: a ClusterRole of this name, bound to the user of this name.
api=rbac.authorization.k8s.io
grant() {
    post $rbac/clusterroles ClusterRole "\"metadata\":{\"name\":\"$1\"},\"rules\":[$2]" &&
        post $rbac/clusterrolebindings ClusterRoleBinding "\"metadata\":{\"name\":\"$1\"},
        \"subjects\":[{\"kind\":\"User\",\"name\":\"$1\",\"apiGroup\":\"$api\"}],
        \"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"$1\",\"apiGroup\":\"$api\"}"
}
# may GROUP RESOURCE [NAME]: a rule that lets impersonate.
may() {
    may_names=${3:+,\"resourceNames\":[\"$3\"]}
    echo "{\"apiGroups\":[\"$1\"],\"resources\":[\"$2\"],\"verbs\":[\"impersonate\"]$may_names}"
}
authn=authentication.k8s.io
reads='{"apiGroups":[""],"resources":["configmaps"],"verbs":["get","list","watch"]}'

tap "a server starts" start --access-log on
tap "ann may speak for bob, in the group dev" grant ann "$(may "" users bob),
    $(may "" groups dev),$(may $authn uids u-1),$(may $authn userextras/scopes view)"
tap "bob may read" grant bob "$reads"
tap "cid may speak for accounts" grant cid "$(may "" serviceaccounts)"
ann=$("$vedette" token create --data data --user ann)
cid=$("$vedette" token create --data data --user cid)
root=$("$vedette" token create --data data --user root --groups system:masters)
tap "the rules are in force" until_true says "$ann" 201 '"username":"bob"' 'Impersonate-User: bob'

# ---- who one is then ----

known='"system:authenticated"'
account=system:serviceaccount:kube-system:default
tap "one is bob, of system:authenticated" says "$ann" 201 \
    "\"userInfo\":{\"username\":\"bob\",\"groups\":[$known]}" 'Impersonate-User: bob'
whole="\"userInfo\":{\"username\":\"bob\",\"uid\":\"u-1\",\"groups\":[\"dev\",$known],"
whole="$whole\"extra\":{\"scopes\":[\"view\"]}}"
tap "with groups, a uid and extras" says "$ann" 201 "$whole" \
    'Impersonate-User: bob' 'Impersonate-Group: dev' 'impersonate-uid: u-1' \
    'Impersonate-Extra-Scopes: view'
tap "an account is in its groups" says "$cid" 201 \
    "[\"system:serviceaccounts\",\"system:serviceaccounts:kube-system\",$known]" \
    "Impersonate-User: $account"
tap "masters speak for anybody" says "$root" 201 \
    "\"zoe\",\"groups\":[\"a\",\"b\",$known],\"extra\":{\"acme.example/x\":[\"1\",\"2\"]}" \
    'Impersonate-User: zoe' 'Impersonate-Group: a' 'Impersonate-Group: b' \
    'Impersonate-Extra-acme.example%2Fx: 1' 'Impersonate-Extra-acme.example%2Fx: 2'

# ---- what one may ----

# maps STATUS HEADER: what ann gets for the ConfigMaps.
maps() {
    maps_code=$(as "$ann" $maps -H "$2" -o /dev/null -w '%{http_code}')
    [ "$maps_code" = "$1" ] || { echo "$maps_code"; return 1; }
}
tap "bob's rights are lent" maps 200 'Impersonate-User: bob'
tap "ann has none" maps 403 'User-Agent: ann'
only_his() {
    as "$root" /api/v1/secrets -H 'Impersonate-User: bob' >only.out
    grep -q -F 'secrets is forbidden: User \"bob\" cannot list resource \"secrets\"' only.out &&
        return 0
    cat only.out
    return 1
}
tap "one's own are put away" only_his
tap "nobody is not somebody" says "$root" 403 \
    'User \"system:anonymous\" cannot create resource' 'Impersonate-User: system:anonymous'

# ---- who may not ----

# denied TOP RESOURCE GROUP WHERE HEADER...: the whole sentence of a 403.
denied() {
    denied_text="$1 is forbidden: User \\\"ann\\\" cannot impersonate resource \\\"$2\\\""
    denied_text="\"message\":\"$denied_text in API group \\\"$3\\\" $4\",\"reason\":\"Forbidden\""
    shift 4
    says "$ann" 403 "$denied_text" "$@"
}
tap "not every user" denied 'users \"eve\"' users "" 'at the cluster scope' 'Impersonate-User: eve'
tap "with its details" says "$ann" 403 '"details":{"name":"eve","kind":"users"},"code":403' \
    'Impersonate-User: eve'
tap "not every group" denied 'groups \"system:masters\"' groups "" 'at the cluster scope' \
    'Impersonate-User: bob' 'Impersonate-Group: dev' 'Impersonate-Group: system:masters'
tap "not every uid" denied "uids.$authn \\\"u-2\\\"" uids $authn 'at the cluster scope' \
    'Impersonate-User: bob' 'Impersonate-Uid: u-2'
tap "not every extra" denied "userextras.$authn \\\"edit\\\"" userextras/scopes $authn \
    'at the cluster scope' \
    'Impersonate-User: bob' 'Impersonate-Extra-Scopes: view' 'Impersonate-Extra-Scopes: edit'
tap "not every account" denied 'serviceaccounts \"default\"' serviceaccounts "" \
    'in the namespace \"kube-system\"' "Impersonate-User: $account"
tap "a group alone is nobody" says "$ann" 400 'Impersonate-User is missing' 'Impersonate-Group: dev'
tap "a token that is no good is that first" says vd_no 401 Unauthorized 'Impersonate-User: bob'

# ---- the log, and watches ----

tap "the log has both" until_true grep -q 'user=ann impersonated_user=bob' err
watch bob.events -H "Authorization: Bearer $ann" -H 'Impersonate-User: bob' \
    "$https$maps?watch=1"
tap "a watch in bob's name" until_true grep -q '"ADDED"' bob.events
admin $rbac/clusterrolebindings/ann -X DELETE >/dev/null
ended() { ! kill -0 "$stream" 2>/dev/null && tail -n 1 bob.events | grep -q '"code":401'; }
tap "ends when ann may no longer speak for him" until_true ended
tap "the server stops" stop
tap_end
