#!/bin/sh
# The real git client and a hosted repository: clones and fetches in every protocol and form, over
# HTTP/1.1 and HTTP/2, who may read what, and what git prints when it is refused.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git.sh
. "$(dirname "$0")/git.sh"

# is_clone FOLDER COMMITS: a good clone with so many commits.
is_clone() {
    git -C "$1" fsck --no-progress && [ "$(git -C "$1" rev-list --count HEAD)" = "$2" ]
}

clone_empty() {
    repository fresh '{"visibility":"internal"}' &&
        shows 'empty repository' git clone "$as_ann/default/fresh.git" fresh.clone &&
        [ "$(git -C fresh.clone symbolic-ref HEAD)" = refs/heads/main ]
}

# clones FOLDER COMMITS OPTION...: clones the catalog in this way.
clones() {
    clones_to=$1 clones_n=$2
    shift 2
    git "$@" "$as_ann/default/catalog.git" "$clones_to" && is_clone "$clones_to" "$clones_n"
}

clone_shallow() {
    clones shallow 1 clone -q --depth 1 && git -C shallow fetch -q --deepen 1 &&
        [ "$(git -C shallow rev-list --count HEAD)" = 2 ] &&
        git -C shallow fetch -q --unshallow && is_clone shallow 5
}

clone_partial() {
    git clone -q --no-checkout --filter=blob:none "$as_ann/default/catalog.git" partial &&
        [ "$(git -C partial rev-list --objects --all --missing=print | grep -c '^?')" -gt 0 ] &&
        git -C partial checkout -q main && [ "$(cat partial/file5.txt)" = 5 ]
}

fetch_more() {
    echo 6 >work.catalog/file6.txt && git -C work.catalog add . &&
        git -C work.catalog commit -q -m c6 && git -C work.catalog tag v6 &&
        into_folder catalog main v6 &&
        git -C v2 pull -q && is_clone v2 6 && [ "$(git -C v2 tag)" = v6 ] &&
        silent git -C v2 fetch
}

# clone_https VERSION LOGGED: over TLS, with this version of HTTP.
clone_https() {
    rm -rf tls
    git -c "http.version=$1" clone -q "https://x:$ann_token@$https_door/default/catalog.git" tls &&
        is_clone tls 6 && grep 'subresource=contents' err | tail -n 1 | grep -q "protocol=$2"
}

# A request of more than 1024 bytes is compressed by git.
fetch_compressed() {
    git init -q many && git -C many fetch -q "$as_ann/default/catalog.git" main || return 1
    for i in $(seq 80); do
        git -C many commit -q --allow-empty -m "m$i" && git -C many branch "b$i" || return 1
    done
    fill other 1 && git -C many fetch -q "$as_ann/default/other.git" main
}

by_certificate() {
    git -c http.sslCert="$scratch/data/pki/admin.crt" -c http.sslKey="$scratch/data/pki/admin.key" \
        clone -q "https://$https_door/default/secret.git" certificate && is_clone certificate 1
}

by_bearer() {
    git -c http.extraHeader="Authorization: Bearer $bob_token" clone -q \
        "$nobody/default/secret.git" bearer && is_clone bearer 1
}

# answers STATUS TEXT PATH ARGUMENT...
answers() {
    answers_status=$1 answers_text=$2 answers_path=$3
    shift 3
    curl -sS -m 60 -i -w '\nstatus %{http_code}\n' "$@" "$http$answers_path" >answers.out
    grep -qx "status $answers_status" answers.out && grep -qF -e "$answers_text" answers.out &&
        return 0
    cat answers.out
    return 1
}

head_follows_the_spec() {
    curl -sS -f -m 60 -H "Authorization: Bearer $admin_token" -X PATCH \
        -H 'Content-Type: application/merge-patch+json' \
        -d '{"spec":{"defaultBranch":"trunk"}}' "$http$repositories/other" >/dev/null &&
        until_true grep -q refs/heads/trunk "$(folder other)/HEAD"
}

tap "a server starts" start_server --log-level info
tap "with users" git_users
tap "a repository that was just created is cloned, empty" clone_empty
tap "repositories with commits" eval 'repository catalog "{\"visibility\":\"internal\"}" &&
    fill catalog 5 && repository secret && fill secret 1 &&
    repository open "{\"visibility\":\"public\"}" && fill open 1 &&
    repository other "{\"visibility\":\"internal\"}"'
tap "clone by protocol version 2" clones v2 5 clone -q
tap "clone by protocol version 1" clones v1 5 -c protocol.version=1 clone -q
tap "clone by protocol version 0" clones v0 5 -c protocol.version=0 clone -q
tap "shallow clone, deepened and made whole" clone_shallow
tap "partial clone, and its missing files" clone_partial
tap "fetch gets what is new, and then nothing" fetch_more
tap "clone over TLS by HTTP/1.1" clone_https HTTP/1.1 HTTP/1.1
tap "clone over TLS by HTTP/2" clone_https HTTP/2 HTTP/2
tap "a compressed request is unpacked" fetch_compressed
tap "a client certificate is a credential" by_certificate
tap "so is a bearer token" by_bearer

tap "a public repository is for everybody" git clone -q "$nobody/default/open.git" open.clone
tap "an internal one wants to know who it is" refuses 'could not read Username' \
    git clone "$nobody/default/catalog.git" x
tap "a wrong token is told so" refuses 'remote: the credential is not good' \
    git clone "http://x:vd_wrong@$http_door/default/catalog.git" x
tap "that is a failed login to git" refuses 'Authentication failed' \
    git clone "http://x:vd_wrong@$http_door/default/catalog.git" x
tap "a private one is not there for others" refuses \
    'remote: there is no repository secret in the namespace default, or you may not read it' \
    git clone "$as_ann/default/secret.git" x
tap "nor is an unknown one" refuses 'remote: there is no repository none' \
    git clone "$as_ann/default/none.git" x
tap "a URL without .git is told" refuses \
    'remote: the path of a repository ends with .git: /default/open' \
    git clone -q "$nobody/default/open" x
tap "who may get repositories/contents reads it" git clone -q "$as_bob/default/secret.git" s.clone
tap "who may read and not update is refused a push" refuses \
    'remote: you may not push here: User "bob" cannot update resource "repositories/contents"' \
    git -C s.clone push "$as_bob/default/secret.git" main
tap "who may not read is not told that it is there" refuses 'remote: there is no repository' \
    git -C s.clone push "$as_ann/default/secret.git" main

tap "strangers are asked for a password" answers 401 'WWW-Authenticate: Basic realm="vedette"' \
    "/default/secret.git/info/refs?service=git-upload-pack"
tap "also for what does not exist" answers 401 'log in' \
    "/default/none.git/info/refs?service=git-upload-pack"
tap "Basic is no credential of other paths" answers 401 Unauthorized /api/v1/namespaces \
    -u "x:$admin_token"
tap "the dumb protocol is refused" answers 404 'dumb HTTP protocol' /default/open.git/HEAD
tap "also its list of refs" answers 403 'dumb HTTP protocol' /default/open.git/info/refs
tap "an unknown service is named" answers 403 'no service "git-upload-archive"' \
    "/default/open.git/info/refs?service=git-upload-archive"
tap "a browser is told what this is" answers 404 'git clone' /default/open.git
tap "a call is a POST" answers 405 'POST only' /default/open.git/git-upload-pack
tap "with its content type" answers 415 'application/x-git-upload-pack-request' \
    /default/open.git/git-upload-pack -d x
tap "a broken gzip body is named" answers 400 'gzip' /default/open.git/git-upload-pack \
    -H 'Content-Type: application/x-git-upload-pack-request' -H 'Content-Encoding: gzip' -d xyz
tap "a body that git does not understand ends the request" answers 200 '' \
    /default/open.git/git-upload-pack -H 'Content-Type: application/x-git-upload-pack-request' \
    -d 0000
tap "answers are not kept by proxies" answers 200 'Cache-Control: no-cache' \
    "/default/open.git/info/refs?service=git-upload-pack"
tap "HEAD of the repository follows spec.defaultBranch" head_follows_the_spec
tap "requests are counted" test \
    "$(metric 'vedette_git_requests_total{service="upload-pack",code="200"}')" -gt 10
tap "no process is left" until_true no_git_left
tap_end
