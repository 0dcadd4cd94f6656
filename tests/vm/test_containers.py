# SPDX-License-Identifier: Apache-2.0
"""Does `comet run` inside a container hold its agent, or say why it cannot?"""
import json
import os
import subprocess

from lib import CANARY, PROBES, check, equal

PRESS = f"{PROBES}/press"
ROOT = ["bwrap", "--bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]


def run_in(box, *container):
    """comet run there; its exit code, words and events, and whether its command has run."""
    pack, events, made = box.usual(), box.path("W/events"), box.path("W/made")
    for path in events, made:
        if os.path.exists(path):
            os.unlink(path)
    done = subprocess.run([*container, "comet", "run", "--events", events, pack, "--", PRESS,
                           f"read {box.s}", f"make {made}"], capture_output=True, text=True,
                          timeout=60, check=False, cwd="/", stdin=subprocess.DEVNULL)
    box.notes.append(f"{container}\nexit {done.returncode}\n{done.stdout}\n{done.stderr}")
    check(CANARY not in done.stdout, "the undeclared file was read")
    told = []
    if os.path.exists(events):
        with open(events, encoding="utf-8") as f:
            told = [json.loads(line) for line in f]
    return done, told, os.path.exists(made)


def is_refused(box, reason, *container):
    done, told, ran = run_in(box, *container)
    equal((done.returncode, done.stdout, told, ran), (125, "", [], False), f"{container[0]}: end")
    check(reason in done.stderr, f"no {reason!r} in {done.stderr}")


def is_held(box, *container):
    done, told, ran = run_in(box, *container)
    equal((done.returncode, done.stdout, ran), (3, "ENOENT\nok\n", True), "end")
    equal([(e["surface"], e["requested"]) for e in told if "surface" in e],
          [("fs.read", box.s)], "violations")


def test_user_namespaces(box):
    """In a user namespace, where root is no root of the host's, a run is refused, and why."""
    is_held(box, "env")
    is_refused(box, "user namespace", "unshare", "--user", "--map-root-user")
    os.chown(box.w, 1000, 1000)
    agent = ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups"]
    is_refused(box, "root", *agent)
    is_refused(box, "user namespace", *agent, "unshare", "--user", "--map-root-user")
    is_refused(box, "user namespace", *agent, *ROOT, "--unshare-all", "--uid", "0")


def test_containers_of_root(box):
    """In a container of root's with no capabilities a run is refused; in a privileged one it
    holds its agent, whatever namespaces the container has."""
    is_refused(box, "CAP_", *ROOT, "--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL")
    is_held(box, *ROOT, "--cap-add", "ALL")
    is_held(box, *ROOT, "--cap-add", "ALL", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
            "--unshare-net", "--unshare-cgroup", "--tmpfs", "/run")
