"""Random histories, pushed to a server and to a simple model: after every push both have the same
objects, and versions count as docs/git.md says.

The model: the objects are those that the recorded commits of the admitted branches describe. A push
is refused if it would make an object be described twice. Usage: git_model.py URL TOKEN STEPS SEED
"""
import json, os, random, subprocess, sys, urllib.request

url, token, steps, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rng = random.Random(seed)
BRANCHES = ["main", "release/1", "draft"]  # the last one is not admitted
NAMES = ["p%d" % i for i in range(8)]
PATHS = ["%s/%d.md" % (folder, i) for folder in ("a", "b") for i in range(4)]
recorded = {}  # admitted branch -> {path: [(name, title, color)]}
known = {}  # name -> what the server had after the last push


def git(*arguments, check=True):
    done = subprocess.run(["git", "-C", "model", *arguments], capture_output=True, text=True,
                          timeout=120)
    if check and done.returncode:
        raise AssertionError((arguments, done.stdout, done.stderr))
    return done


def ask(path):
    request = urllib.request.Request(url + path, headers={"Authorization": "Bearer " + token})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def manifest(name, title, color):
    return f"""---
apiVersion: catalog.gitstore.dev/v1beta1
kind: Product
metadata:
  name: {name}
  labels: {{color: {color}}}
spec:
  title: {title}
---
"""


def read_tree():
    """What the work tree describes: {path: (name, title, color)}."""
    found = {}
    for path in PATHS:
        if os.path.exists("model/" + path):
            with open("model/" + path) as file:
                lines = file.read().split("\n")
            found[path] = (lines[4].split(": ")[1], lines[7].split(": ")[1],
                           lines[5].split(": ")[2].rstrip("}"))
    return found


def write(path, content):
    os.makedirs(os.path.dirname("model/" + path), exist_ok=True)
    with open("model/" + path, "w") as file:
        file.write(manifest(*content))


def change():
    """One random edit of the work tree."""
    tree = read_tree()
    kind = rng.choice(["add", "edit", "label", "move", "delete", "other"])
    path = rng.choice(PATHS)
    if kind == "add" or not tree:
        write(path, (rng.choice(NAMES), "t%d" % rng.randrange(9), rng.choice(["red", "blue"])))
        return
    old = rng.choice(sorted(tree))
    name, title, color = tree[old]
    if kind == "edit":
        write(old, (name, "t%d" % rng.randrange(9), color))
    elif kind == "label":
        write(old, (name, title, rng.choice(["red", "blue"])))
    elif kind == "delete":
        os.remove("model/" + old)
    elif kind == "move" and not os.path.exists("model/" + path):
        os.makedirs(os.path.dirname("model/" + path), exist_ok=True)
        os.rename("model/" + old, "model/" + path)
    else:
        with open("model/README", "a") as file:
            file.write("more\n")


def names_of(tree):
    return [content[0] for content in tree.values()]


def is_allowed(branch, tree):
    others = [name for other in recorded if other != branch for name in names_of(recorded[other])]
    mine = names_of(tree)
    return len(set(mine)) == len(mine) and not set(mine) & set(others)


def check(before):
    """The server has what the model has."""
    global known
    want = {content[0]: (branch, path) + content[1:] for branch, tree in recorded.items()
            for path, content in tree.items()}
    items = ask("/apis/catalog.gitstore.dev/v1beta1/namespaces/shop/products")["items"]
    now = {}
    for item in items:
        meta = item["metadata"]
        notes = meta["annotations"]
        now[meta["name"]] = {
            "is": (notes["vedette.dev/git-branch"], notes["vedette.dev/git-path"],
                   item["spec"]["title"], meta["labels"]["color"]),
            "uid": meta["uid"], "generation": meta["generation"],
            "version": meta["resourceVersion"]}
    assert {name: o["is"] for name, o in now.items()} == want, (now, want)
    for name, o in now.items():
        if name not in known:
            assert o["generation"] == 1, (name, o)
            continue
        old = known[name]
        assert o["uid"] == old["uid"], (name, old, o)
        edited = o["is"][2] != old["is"][2]
        assert o["generation"] == old["generation"] + edited, (name, old, o)
        assert (o["version"] == old["version"]) == (o["is"] == old["is"]), (name, old, o)
    known = now
    status = ask("/apis/git.vedette.dev/v1/namespaces/shop/repositories/model")["status"]
    refs = dict(reversed(line.split("\t")) for line in
                git("ls-remote", "origin").stdout.splitlines())
    for branch in BRANCHES[:2]:
        commit = [b["commit"] for b in status.get("branches", []) if b["name"] == branch]
        assert commit == [refs["refs/heads/" + branch]] if branch in recorded else not commit
    assert status.get("resources", 0) == len(want), status


def switch(branch):
    git("checkout", "-q", "-f", branch) if git(
        "rev-parse", "-q", "--verify", branch, check=False).returncode == 0 else git(
        "checkout", "-q", "-f", "-B", branch)


def rewrite():
    """Merges, rewinds or goes on from another branch; the work tree may be anything then."""
    kind = rng.choice(["merge", "rewind", "orphan"])
    other = rng.choice(BRANCHES)
    if kind == "merge" and git("rev-parse", "-q", "--verify", other, check=False).returncode == 0:
        git("merge", "-q", "--no-edit", "-X", rng.choice(["ours", "theirs"]),
            "--allow-unrelated-histories", other, check=False)
        git("add", "-A")
        git("commit", "-q", "-m", "merged", "--allow-empty")
    elif kind == "rewind":
        git("reset", "-q", "--hard", "HEAD~%d" % rng.randrange(3), check=False)
    else:
        git("rm", "-q", "-r", "-f", "--ignore-unmatch", ".")


def step():
    branch = rng.choice(BRANCHES)
    switch(branch)
    if branch != "main" and branch in recorded and rng.random() < 0.1:
        git("push", "origin", ":" + branch)
        for name in names_of(recorded.pop(branch)):
            known.pop(name)
        return "delete"
    if rng.random() < 0.2:
        rewrite()
    for _ in range(rng.randrange(1, 4)):
        change()
    git("add", "-A")
    git("commit", "-q", "-m", "step", "--allow-empty")
    tree = read_tree()
    pushed = git("push", "--force", "origin", branch, check=False)
    if branch == BRANCHES[2]:
        assert pushed.returncode == 0, pushed.stderr
        return "kept"
    allowed = is_allowed(branch, tree)
    assert (pushed.returncode == 0) == allowed, (allowed, pushed.stderr, tree, recorded)
    if not allowed:
        assert "nothing has changed" in pushed.stderr, pushed.stderr
        git("reset", "-q", "--hard", "HEAD~1", check=False)
        return "refused"
    for name in set(names_of(recorded.get(branch, {}))) - set(names_of(tree)):
        known.pop(name)
    recorded[branch] = tree
    return "admitted"


counts = {}
for at in range(steps):
    try:
        result = step()
        check(known)
    except Exception:
        print(f"step {at}, seed {seed}")
        raise
    counts[result] = counts.get(result, 0) + 1
print(counts)
assert counts.get("admitted", 0) > steps / 10, counts
