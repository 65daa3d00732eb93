#!/bin/sh
# `vedette lint` on real work trees: what it reads, what it tells, in which form, with which status.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
vedette=$(cd "$build" && pwd)/vedette
cd "$scratch" || exit 1
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com

# new_tree NAME: an empty work tree, which is then the current folder.
new_tree() {
    rm -rf "${scratch:?}/$1"
    git init -q -b main "$scratch/$1" && cd "$scratch/$1" || exit 1
}

definition() {
    cat <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pages.example.com}
spec:
  group: example.com
  names: {plural: pages, singular: page, kind: Page, listKind: PageList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          body: {type: string}
          spec:
            type: object
            required: [title]
            properties:
              title: {type: string, maxLength: 10}
              day: {type: string, format: date}
              media:
                type: array
                items:
                  type: object
                  properties: {url: {type: string}}
            x-kubernetes-validations:
            - rule: self.title != 'bad'
              message: no bad titles
YAML
}

# page NAME TITLE: front matter and a body.
page() {
    printf -- '---\napiVersion: example.com/v1\nkind: Page\nmetadata:\n  name: %s\nspec:\n' "$1"
    printf '  title: %s\n---\nThe body.\n' "$2"
}

configmap() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n' "$1"; }

# lints STATUS OPTION...: the exit status, and exactly the lines of standard input.
lints() {
    lints_status=$1
    shift
    cat >"$scratch/want"
    timeout 60 "$vedette" lint "$@" >"$scratch/got" 2>"$scratch/err"
    lints_got=$?
    [ "$lints_got" -eq "$lints_status" ] && diff "$scratch/want" "$scratch/got" && return 0
    echo "status $lints_got"
    cat "$scratch/err"
    return 1
}

# says STATUS TEXT OPTION...: the exit status, and a line with the text.
says() {
    says_status=$1
    says_text=$2
    shift 2
    timeout 60 "$vedette" lint "$@" >"$scratch/got" 2>&1
    says_got=$?
    [ "$says_got" -eq "$says_status" ] && grep -q -F -e "$says_text" "$scratch/got" && return 0
    echo "status $says_got, no line says: $says_text"
    cat "$scratch/got"
    return 1
}

# --- a good tree ---

new_tree good
mkdir -p pages deep/er/and/deeper .github
definition >zz-definition.yaml
page a Hello >pages/a.md
configmap c >deep/er/and/deeper/c.yaml
printf '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Namespace",' >n.json
printf '"metadata":{"name":"n"}}]}\n' >>n.json
echo '# A page like any other' >README.md
echo 'on: push' >.github/workflow.yml
tap "a good tree has nothing to tell" lints 0 . </dev/null
tap "it says what it has read" says 0 '4 manifests in 5 files: 0 errors, 0 warnings' .
tap "a definition holds wherever it stands" lints 0 pages/a.md </dev/null

# --- mistakes ---

new_tree bad
mkdir pages
definition >definition.yaml
page a 'much too long' >pages/a.md
page b bad >pages/b.md
page c Hello | sed 's/^  title.*/&\n  media:\n  - url: x\n  - ulr: y\n  day: someday/' >pages/c.md
page D_d Hello >pages/d.md
page e Hello | sed 's/  name: e/&\n  uid: x/' >pages/e.md
configmap f | sed 's/ConfigMap/Nothing/' >pages/f.yaml
configmap g >g.yaml
{ echo ---; cat g.yaml; printf -- '---\nText.\n'; } >g2.md
errors() {
    echo 'g2.md:4:12: metadata.name: g.yaml:3 describes the same object; remove one of them'
    echo 'g2.md:6:1: body: objects of kind ConfigMap have no body; remove the text behind the' \
        'front matter, or write the file as YAML'
}
tap "files of a folder alone can be asked for" says 1 'pages/a.md:7:3: spec.title: Too long' pages
tap "a rule is checked, and stands at its field" says 1 \
    'pages/b.md:6:1: spec: Invalid value: "object": no bad titles' .
tap "an unknown field has its place" says 1 \
    'pages/c.md:10:5: spec.media[1].ulr: the kind has no such field' .
tap "a format is checked" says 1 'pages/c.md:11:3: spec.day: Invalid value: "someday"' .
tap "a name is checked" says 1 'pages/d.md:5:3: metadata.name: Invalid value: "D_d"' .
tap "a field of the server is refused" says 1 \
    'pages/e.md:6:3: metadata.uid: Forbidden: is set by the server' .
tap "an unknown kind is named" says 1 'pages/f.yaml:2:1: kind: there is no kind Nothing in v1' .
duplicates() { errors | lints 1 g2.md; }
tap "two files of one object, and a body without a place" duplicates
tap "what concerns other paths is not told" lints 0 definition.yaml </dev/null
github() {
    echo '::error file=pages/f.yaml,line=2,col=1::kind: there is no kind Nothing in v1; add its' \
        'CustomResourceDefinition to the tree, or correct apiVersion and kind' |
        lints 1 --output github pages/f.yaml
}
tap "github gets workflow commands" github
json() {
    "$vedette" lint --output json . >"$scratch/got" 2>/dev/null
    python3 - "$scratch/got" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
assert report["errors"] == len(report["findings"]) > 6, report
first = report["findings"][0]
assert first["path"] == "g2.md" and first["line"] == 4 and first["severity"] == "error", first
assert first["field"] == "metadata.name", first
places = [(f["path"], f["line"], f["column"]) for f in report["findings"]]
assert places == sorted(places), places
PYTHON
}
tap "json is in order, and whole" json
printf 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {p: "S3cr3t!"}\n' >secret.yaml
# hides FORMAT: what is said of a Secret has none of its values.
hides() { says 1 '(hidden)' --output "$1" secret.yaml && ! grep S3cr3t "$scratch/got"; }
for format in text json github; do
    tap "a Secret's values are hidden: $format" hides $format
done
rm secret.yaml
capped() {
    "$vedette" lint --max-errors 2 . >"$scratch/got" 2>/dev/null
    [ "$(wc -l <"$scratch/got")" -eq 3 ] && grep -q '^and [0-9]* more errors$' "$scratch/got"
}
tap "--max-errors counts the rest" capped
cd "$scratch" || exit 1
tap "paths are told from the current folder" says 1 'bad/pages/f.yaml:2:1: kind:' bad/pages
tap "two trees at once" says 1 '13 manifests in 14 files: 1 error, 0 warnings' \
    good bad/pages/f.yaml

# --- files that are not what they seem ---

new_tree odd
configmap a >a.yaml
ln -s a.yaml link.yaml
ln -s / root
mkfifo pipe.yaml
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 1\n' >lfs.md
head -c 10485761 /dev/zero | tr '\0' '#' >large.yaml
head -c 10485760 large.yaml >largest.yaml
printf 'a: \377\n' >latin.yaml
printf 'a: \000\n' >binary.yaml
printf '\357\273\277---\r\napiVersion: v1\r\nkind: ConfigMap\r\n' >crlf.md
printf 'metadata: {name: b}\r\n---\r\n' >>crlf.md
echo 'replicas: 3' >values.yaml
configmap c >Twin.yaml
configmap d >twin.yaml
mkdir sub && git init -q sub && configmap a >sub/a.yaml
odd_name=$(printf 'odd\033[2Jname.yaml')
printf 'kind: A\n' >"$odd_name"
{
    echo 'a: &a [x,x,x,x,x,x,x,x]'
    for i in b c d e f g h i j; do
        echo "$i: &$i [*a,*a,*a,*a,*a,*a]" | sed "s/\*a/*$(echo "$i" | tr b-j a-i)/g"
    done
} >bomb.yaml
tap "a link is named" says 1 'link.yaml: warning: ignored: symbolic links are not followed' .
tap "a pointer of LFS is named" says 1 'lfs.md: the file is a pointer of Git LFS' .
tap "a large file is named" says 1 'large.yaml: the file has 10485761 bytes' .
tap "what a push takes is taken" lints 0 largest.yaml </dev/null
tap "a file that is not UTF-8 is named" says 1 'latin.yaml:1:4: the file is not UTF-8' .
tap "a binary file is named" says 1 'binary.yaml: the file is binary' .
tap "CRLF and a byte order mark are fine" lints 0 crlf.md </dev/null
tap "paths that differ in case alone are named" says 0 \
    'twin.yaml: warning: differs from Twin.yaml' \
    twin.yaml
tap "a submodule is named" says 1 'sub: warning: ignored: submodules are not read' .
tap "odd names steer no terminal" says 1 'odd\u001b[2Jname.yaml:1:1: apiVersion: Required value' .
tap "an alias bomb is bounded" says 1 'with its aliases expanded' bomb.yaml
tap "a file without documents of ours is warned of" says 0 \
    'neither apiVersion nor kind' --output text values.yaml

# --- .vedette.yaml ---

new_tree configured
mkdir -p pages drafts
definition >pages/definition.yaml
page a Hello >pages/a.md
page b bad >drafts/b.md
printf 'paths: [pages/, drafts/]\nexclude: [drafts/]\ndefaultNamespace: shop\n' >.vedette.yaml
tap "excluded files do not count" lints 0 . </dev/null
printf 'path: [x]\n' >.vedette.yaml
tap "a mistake in it is told" says 1 '.vedette.yaml:1:1: path: unknown field' pages/a.md

# --- the command line ---

tap "a path that is not there" says 2 'vedette: nowhere: No such file or directory' nowhere
tap "no path at all" says 2 'PATH... is missing'
tap "an unknown form" says 2 "wants text, json or github, not 'xml'" --output xml .
tap "no errors at all" says 2 "'--max-errors' wants a number from 1 on" --max-errors 0 .

# --- the hook of examples/git ---

new_tree hooked
PATH=$(dirname "$vedette"):$PATH
export PATH
cp "$top/examples/git/pre-commit" .git/hooks/pre-commit
definition >definition.yaml
page a bad >a.md
git add .
refused() {
    if git commit -q -m bad >"$scratch/got" 2>&1; then
        return 1
    fi
    grep -q '^a.md:6:1: spec: Invalid value: "object": no bad titles$' "$scratch/got" ||
        { cat "$scratch/got"; return 1; }
}
tap "the hook refuses a commit" refused
page a Hello >a.md
tap "what counts is in the index" refused
git add a.md
tap "the hook lets a good commit pass" git commit -q -m good
tap_end
