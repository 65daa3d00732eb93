#!/bin/sh
# The program as a hook of git: what it tells the server and git, and that it never hangs.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
vedette=$(cd "$build" && pwd)/vedette
cd "$scratch" || exit 1
ln -s "$vedette" pre-receive
ln -s "$vedette" proc-receive
command -v python3 >/dev/null || {
    echo "ok 1 # SKIP there is no python3"
    echo 1..1
    exit 0
}

# hook NAME EXPRESSION: runs the hook with the server's end of its channel in hands of Python;
# `scene` says what happens.
cat >scene.py <<'PYTHON'
import os, socket, struct, subprocess, sys

A, B = "1" * 40, "2" * 40

def message(kind, payload=b""):
    return struct.pack(">I", len(payload)) + kind + payload

def packet(payload):
    return b"%04x" % (len(payload) + 4) + payload

class Hook:
    def __init__(self, name):
        self.ours, theirs = socket.socketpair()
        fd = theirs.fileno()
        def third():
            os.dup2(fd, 3)
        env = {"GIT_OBJECT_DIRECTORY": "/o", "GIT_ALTERNATE_OBJECT_DIRECTORIES": "/a",
               "GIT_QUARANTINE_PATH": "/q"}
        self.process = subprocess.Popen(["./" + name], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=third, pass_fds=[3, fd],
            env=env)
        theirs.close()
        self.ours.settimeout(30)

    def read(self, n):
        data = b""
        while len(data) < n:
            piece = self.ours.recv(n - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def messages(self):
        while True:
            head = self.read(5)
            payload = self.read(struct.unpack(">I", head[:4])[0])
            yield head[4:], payload
            if head[4:] == b"r":
                return

    def end(self, code):
        out, err = self.process.communicate(timeout=30)
        assert self.process.returncode == code, (self.process.returncode, out, err)
        return out, err

def pre_receive():
    h = Hook("pre-receive")
    h.process.stdin.write(f"{A} {B} refs/heads/main\n{B} {A} refs/tags/v1\n".encode())
    h.process.stdin.close()
    h.process.stdin = None
    assert list(h.messages()) == [(b"b", b"pre-receive\0/o\0/a\0/q"),
        (b"c", f"{A} {B} refs/heads/main".encode()), (b"c", f"{B} {A} refs/tags/v1".encode()),
        (b"r", b"")]
    return h

def proc_receive(options):
    h = Hook("proc-receive")
    features = b"push-options atomic" if options else b"atomic"
    h.process.stdin.write(packet(b"version=1\0" + features) + b"0000")
    h.process.stdin.write(packet(f"{A} {B} refs/heads/main\n".encode()) + b"0000")
    if options:
        h.process.stdin.write(packet(b"an option") + b"0000")
    h.process.stdin.flush()
    want = [(b"b", b"proc-receive\0/o\0/a\0/q"), (b"c", f"{A} {B} refs/heads/main".encode())]
    want += [(b"o", b"an option")] if options else []
    assert list(h.messages()) == want + [(b"r", b"")]
    return h

def admitted():
    h = pre_receive()
    answer = message(b"t", b"a warning\n") + message(b"x", b"0")
    for byte in answer: # in the smallest pieces there are
        h.ours.send(bytes([byte]))
    assert h.end(0) == (b"", b"a warning\n")

def refused():
    h = pre_receive()
    h.ours.send(message(b"t", b"x" * 65536) + message(b"t", b"more\n") + message(b"x", b"1"))
    assert h.end(1)[1] == b"x" * 65536 + b"more\n"

def reported():
    for options in False, True:
        h = proc_receive(options)
        h.ours.send(message(b"l", b"ok refs/heads/main") + message(b"t", b"done\n") +
                    message(b"x", b"0"))
        version = packet(b"version=1\0push-options" if options else b"version=1") + b"0000"
        assert h.end(0) == (version + packet(b"ok refs/heads/main") + b"0000", b"done\n")

def gone():
    for h in pre_receive(), proc_receive(False):
        h.ours.close()
        assert h.end(1)[1] == b"the server has gone away\n"

def gone_before():
    h = Hook("pre-receive")
    h.ours.close()
    h.process.stdin.write(f"{A} {B} refs/heads/main\n".encode())
    assert h.end(1)[1] == b"the server has gone away\n"

def nonsense():
    h = pre_receive()
    h.ours.send(b"\xff\xff\xff\xffz")
    assert h.end(1)[1] == b"the server has gone away\n"
    h = Hook("proc-receive")
    h.process.stdin.write(b"this is no packet")
    assert h.end(1)[1] == b"the hook does not understand what git says\n"
    h = Hook("proc-receive")
    h.process.stdin.write(packet(b"version=2") + b"0000")
    assert h.end(1)[1] == b"the hook does not understand what git says\n"

globals()[sys.argv[1]]()
PYTHON

scene() { timeout 60 python3 scene.py "$1"; }

tap "pre-receive: what the server admits" scene admitted
tap "pre-receive: what it refuses" scene refused
tap "proc-receive: refs are reported to git" scene reported
tap "the server goes away" scene gone
tap "the server has gone before" scene gone_before
tap "what nobody understands" scene nonsense
no_channel() {
    complains "push to the server's URL" ./pre-receive </dev/null 3<&- &&
        complains "push to the server's URL" ./proc-receive </dev/null 3</dev/null
}
tap "there is no channel" no_channel
tap_end
