# SPDX-License-Identifier: Apache-2.0
"""How does a test follow a run that goes on, and what is left of it in the kernel?"""
import json
import os
import subprocess
import time

from lib import FAULTS, check, equal

CGROUPS = "/sys/fs/cgroup"


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


def entries(name):
    """How many entries the map has."""
    done = subprocess.run(["bpftool", "-j", "map", "dump", "name", name], capture_output=True,
                          check=False)
    return len(json.loads(done.stdout))


def held():
    """All that a run could leave behind."""
    return {
        "programs": bpf("prog"), "maps": bpf("map"),
        "cgroups": sorted(d for d in os.listdir(CGROUPS) if d.startswith("comet-")),
        "processes": subprocess.run(["pgrep", "-x", "comet.*"], capture_output=True, text=True,
                                    check=False).stdout.split(),
        "records": sorted(os.listdir("/run/comet")) if os.path.exists("/run/comet") else [],
        **{name: entries(name) for name in ("comet_layers", "comet_objects", "comet_names",
                                            "comet_nets", "comet_policies", "comet_rings")},
    }


def difference(what, before, now):
    if isinstance(now, int):
        return f"{what}: {now} instead of {before}"
    new = [n for n in now if n not in before]
    return f"{what}: new {new}, gone {[b for b in before if b not in now]}"


def same(before, seconds=60):
    """Until all is again as held() said before."""
    end = time.monotonic() + seconds
    while (now := held()) != before:
        check(time.monotonic() < end, "left behind: " + "; ".join(
            difference(what, before[what], now[what]) for what in now if now[what] != before[what]))
        time.sleep(0.05)
