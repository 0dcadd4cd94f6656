# SPDX-License-Identifier: Apache-2.0
"""How does a test follow a run that goes on, and what is left of it in the kernel?"""
import json
import os
import subprocess
import time

from lib import FAULTS, check, equal


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def until(condition, what, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < end, f"not in time: {what}")
        time.sleep(0.05)


def start(box, pack, *command, options=(), fault=None, **more):
    """comet run in the background; it has .events. fault: as in Box.comet()."""
    events = box.path("events-background")
    program = "comet"
    if fault is not None:
        program, more["env"] = FAULTS, {**more.get("env", os.environ), "COMET_FAULT": fault}
    process = subprocess.Popen([program, "run", "--events", events, *options, pack, "--", *command],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, **more)
    process.events = events
    box.closers.append(process.kill)
    return process


def events_of(process):
    return [json.loads(line) for line in read(process.events).splitlines()]


def end_of(result):
    equal(result.events[-1]["kind"], "run_completed", "last event")
    return result.events[-1]


def bpf(kind):
    """What the kernel holds of Comet: names by id."""
    done = subprocess.run(["bpftool", "-j", kind, "show"], capture_output=True, check=True)
    return {o["id"]: o.get("name", "") for o in json.loads(done.stdout)}
