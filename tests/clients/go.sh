# shellcheck shell=sh disable=SC2154 # names of client.sh
# Sourced by the tests with programs in Go, after client.sh; skips them where there is no Go.
command -v go >/dev/null || skip_all "no go here"

# build_go NAME [GOPATH]: the program go/NAME, at ./NAME. No module and no download: there is
# nothing but the standard library, and what a GOPATH leads to. What was compiled is kept.
build_go() {
    mkdir -p "$cache" gopath/src && ln -sfn "$here/go" gopath/src/vedette &&
        GOPATH=$scratch/gopath${2:+:$2} GOCACHE=$cache/go-build GO111MODULE=off GOFLAGS='' \
            CGO_ENABLED=0 go build -o "$1" "vedette/$1"
}
