"""python3-kubernetes against a server: prints TAP. What needs the server to die is between this and
python_test.sh: the file `killed` asks for it, `restarted` says that it was done."""

import datetime
import os
import sys
import time
import traceback

from kubernetes import client, config, watch
from kubernetes.client.rest import ApiException

SPACE = "default"
config.load_kube_config()
core = client.CoreV1Api()
leases = client.CoordinationV1Api()
count = failed = 0


def tap(run):
    """Runs a test, which is named by its first line of documentation."""
    global count, failed
    count += 1
    try:
        run()
        print(f"ok {count} - {run.__doc__}")
    except Exception:
        failed += 1
        print(f"not ok {count} - {run.__doc__}")
        print("# " + traceback.format_exc().replace("\n", "\n# "))
    sys.stdout.flush()


def equal(got, want):
    if got != want:
        raise AssertionError(f"got {got!r}, wanted {want!r}")


def refused(status, run, *args, **kwargs):
    try:
        run(*args, **kwargs)
    except ApiException as error:
        return equal(error.status, status)
    raise AssertionError(f"it was not refused; wanted {status}")


def config_map(name, value):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data={"v": value})


def events(version, number):
    """The next events of a watch from a version, as (type, name, value), and the last version."""
    seen = []
    stream = watch.Watch()
    for event in stream.stream(
        core.list_namespaced_config_map, SPACE, resource_version=version, timeout_seconds=30
    ):
        item = event["object"]
        seen.append((event["type"], item.metadata.name, item.data["v"]))
        version = item.metadata.resource_version
        if len(seen) == number:
            stream.stop()
    return seen, version


def patches():
    """patch: merge, JSON and strategic by the body's type"""
    core.create_namespaced_config_map(SPACE, config_map("p", "1"))
    got = core.patch_namespaced_config_map("p", SPACE, {"data": {"w": "2"}})
    equal(got.data, {"v": "1", "w": "2"})
    operations = [{"op": "remove", "path": "/data/w"}]
    got = core.patch_namespaced_config_map("p", SPACE, operations)
    equal(got.data, {"v": "1"})
    refused(404, core.patch_namespaced_config_map, "none", SPACE, {"data": {}})
    core.delete_namespaced_config_map("p", SPACE)


def resumes():
    """a watch goes on after kill -9 and a restart"""
    version = core.list_namespaced_config_map(SPACE).metadata.resource_version
    core.create_namespaced_config_map(SPACE, config_map("a", "1"))
    seen, version = events(version, 1)
    equal(seen, [("ADDED", "a", "1")])
    core.patch_namespaced_config_map("a", SPACE, {"data": {"v": "2"}})
    open("killed", "w").close()
    deadline = time.monotonic() + 60
    while not os.path.exists("restarted"):
        if time.monotonic() > deadline:
            raise AssertionError("the server did not come back")
        time.sleep(0.02)
    core.delete_namespaced_config_map("a", SPACE)
    seen, _ = events(version, 2)
    equal(seen, [("MODIFIED", "a", "2"), ("DELETED", "a", "2")])


def elects():
    """a Lease has one holder: who comes with an old version is refused"""
    now = datetime.datetime.now(datetime.timezone.utc)
    body = client.V1Lease(
        metadata=client.V1ObjectMeta(name="leader"),
        spec=client.V1LeaseSpec(
            holder_identity="one", lease_duration_seconds=15, acquire_time=now, renew_time=now
        ),
    )
    first = leases.create_namespaced_lease(SPACE, body)
    equal(first.spec.renew_time, now)
    refused(409, leases.create_namespaced_lease, SPACE, body)
    other = leases.read_namespaced_lease("leader", SPACE)
    first.spec.renew_time = now + datetime.timedelta(seconds=5)
    renewed = leases.replace_namespaced_lease("leader", SPACE, first)
    other.spec.holder_identity = "two"
    refused(409, leases.replace_namespaced_lease, "leader", SPACE, other)
    renewed.spec.holder_identity = "two"
    renewed.spec.lease_transitions = 1
    leases.replace_namespaced_lease("leader", SPACE, renewed)
    equal(leases.read_namespaced_lease("leader", SPACE).spec.holder_identity, "two")


def errors():
    """errors have the server's status"""
    refused(404, core.read_namespaced_config_map, "none", SPACE)
    refused(422, core.create_namespaced_config_map, SPACE, config_map("A_B", "1"))
    refused(400, core.list_namespaced_config_map, SPACE, label_selector="!!")


for test in (patches, errors, resumes, elects):
    tap(test)
print(f"1..{count}")
sys.exit(1 if failed else 0)
