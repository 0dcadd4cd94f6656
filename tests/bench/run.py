#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many instructions does Comet add? Runs as root in a VM that counts (scripts/vm --icount)."""
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hooks  # noqa: E402

OPENS = "/with/bench/opens"
N = 20000
REFUSED = 1500  # fits the ring buffer, so that no event is lost
PACK = """spec_version: soyapack.v0
kind: Agent
name: bench
version: 1.0.0
description: instruction counts
authors: [{name: bench}]
license: MIT
runtime: {compat: '>=0.1.0'}
determinism: stateful
entry: main
expose: {openai_compat: chat, virtual_model_id: 'soya:bench'}
sandbox:
  image: base@0.1.0
  capabilities:
    fs_read: [/srv/bench/granted]
"""


def opens(*arguments, governed=False):
    """(instructions per operation, operations that failed)"""
    command = [OPENS, *map(str, arguments)]
    if governed:
        command = ["comet", "run", "--quiet", "--events", "/srv/bench/events",
                   "/srv/bench/pack.yaml", "--", *command]
    out = subprocess.run(command, capture_output=True, text=True, check=False, input="x").stdout.split()
    return int(out[1]), int(out[2])


def refuse_each():
    """Like opens("each"), with comet's reader stopped: it runs on the same, only processor."""
    command = ["comet", "run", "--quiet", "--events", "/srv/bench/events", "/srv/bench/pack.yaml",
               "--", OPENS, "each", "/srv/bench/other/", str(REFUSED)]
    agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    time.sleep(10)
    agent.send_signal(signal.SIGSTOP)
    agent.stdin.write(b"x")
    agent.stdin.flush()
    out = agent.stdout.readline().split()
    agent.send_signal(signal.SIGCONT)
    agent.communicate()
    return int(out[1]), int(out[2])


def prepare():
    shutil.rmtree("/srv/bench", ignore_errors=True)
    os.makedirs("/srv/bench/granted/a/b")
    os.makedirs("/srv/bench/other")
    with open("/srv/bench/pack.yaml", "w", encoding="utf-8") as f:
        f.write(PACK)
    for path in ["granted/f", "granted/a/b/f"] + [f"other/{i}" for i in range(REFUSED)]:
        with open(f"/srv/bench/{path}", "w", encoding="utf-8"):
            pass


def row(what, count, base=None):
    added = "" if base is None else f"  +{count - base}"
    print(f"  {what:<58}{count:>7}{added}", flush=True)


def main():
    prepare()
    time.sleep(13)  # the first seconds after boot are off by a factor
    shallow, deep = "/srv/bench/granted/f", "/srv/bench/granted/a/b/f"
    refused = "/srv/bench/other/"
    print(f"Linux {os.uname().release}, instructions per operation", flush=True)
    plain = opens("same", deep, N)[0]
    plain_shallow = opens("same", shallow, N)[0]
    plain_each = opens("each", refused, REFUSED)[0]
    plain_fork = opens("fork", 500)[0]
    plain_hooks = hooks.counts()
    row("open+close, no Comet", plain)
    row("open (each another file)+close, no Comet", plain_each)
    row("fork+exit+wait, no Comet", plain_fork)
    holder = subprocess.Popen(["comet", "run", "--quiet", "/srv/bench/pack.yaml", "--",
                               "/bin/sleep", "3600"], stdin=subprocess.DEVNULL)
    time.sleep(20)
    if holder.poll() is not None:
        sys.exit("comet run did not start")
    row("open+close, ungoverned, a policy loaded", opens("same", deep, N)[0], plain)
    row("fork+exit+wait, ungoverned, a policy loaded", opens("fork", 500)[0], plain_fork)
    hooks.table(plain_hooks, hooks.counts())
    for what, path, base in (("1 directory", shallow, plain_shallow), ("3 directories", deep, plain)):
        count, failed = opens("same", path, N, governed=True)
        if failed:
            sys.exit(f"{path} was refused")
        row(f"open+close, governed, allowed, grant {what} up", count, base)
    count, failed = refuse_each()
    if failed != REFUSED:
        sys.exit(f"{REFUSED - failed} opens were not refused")
    row("open, governed, refused, with its event", count, plain_each)
    count, failed = opens("same", refused + "0", N, governed=True)
    row("open, governed, refused, folded into an earlier event", count, plain)
    holder.terminate()
    holder.wait()


main()
