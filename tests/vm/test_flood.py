# SPDX-License-Identifier: Apache-2.0
"""What does a flood of refusals do to Comet's memory, to its events, and to those of other runs?"""
import datetime
import json
import os
import re
import socket
import subprocess
import threading
import time

from lib import PROBES, check, equal, limit
from life import read, until

ENDURE = f"{PROBES}/endure"
PORT = 20003  # one of those that a flood sends to
MORE_MIB = 4  # than a quiet run takes, as the manual says
RESULT_MIB = 64  # with --json


def measured(box, *command, options=(), before=()):
    """comet run to its end: exit code, output, and how much memory it took at most, in MiB."""
    out = box.path("out")
    with open(out, "wb") as to:
        process = subprocess.Popen([*before, "comet", "run", *options, box.usual(), "--", *command],
                                   stdin=subprocess.DEVNULL, stdout=to, stderr=subprocess.DEVNULL)
        box.closers.append(process.kill)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, read(out), usage.ru_maxrss / 1024


class Dripping:
    """Another run, which is refused something five times a second, and how late that is told."""

    def __init__(self, box):
        for i in range(2000):
            box.file(f"drops/{i}")
        ours, theirs = os.pipe()
        self.process = subprocess.Popen(
            ["comet", "run", "--quiet", "--events", f"fd:{theirs}", box.usual(name="dripping"),
             "--", ENDURE, f"drip {box.path('drops')} 2000 200"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, pass_fds=[theirs])
        box.closers.append(self.process.kill)
        os.close(theirs)
        self.late = []
        self.thread = threading.Thread(target=self.listen, args=(ours,), daemon=True)
        self.thread.start()

    def listen(self, fd):
        with os.fdopen(fd, encoding="utf-8") as events:
            for line in events:
                event = json.loads(line)
                if event["kind"] == "capability_violation":
                    when = datetime.datetime.fromisoformat(event["ts"].replace("Z", "+00:00"))
                    self.late.append(time.time() - when.timestamp())

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.thread.join(10)


def told(path):
    """Sequence number and name of each refusal that has an event, and the last event."""
    with open(path, "rb") as f:
        lines = f.read().splitlines()
    refusals = [line for line in lines if b'"capability_violation"' in line]
    numbers = [int(re.search(rb'"sequence":(\d+)', line).group(1)) for line in refusals]
    names = [re.search(rb'"requested":"([^"]*)"', line).group(1) for line in refusals]
    return numbers, names, json.loads(lines[-1])


@limit(400)
def test_no_two_alike(box):
    """Of 100,000 refused calls that all differ none succeeds, and each is told or counted as lost;
    Comet takes little more memory than in a quiet run; another run's events come in time."""
    times, events = 100000, box.path("events")
    x = box.listen(socket.SOCK_DGRAM, port=PORT)
    box.dir("flood")
    _, _, quiet = measured(box, ENDURE, f"drip {box.path('drops')} 1 0")
    dripping = Dripping(box)
    until(lambda: len(dripping.late) > 2, "the other run's events")
    began, before = time.monotonic(), len(dripping.late)
    code, out, resident = measured(box, ENDURE, f"flood {box.path('flood')} {times}",
                                   options=["--events", events])
    took, late = time.monotonic() - began, sorted(dripping.late[before:])
    dripping.end()
    equal((code, out), (3, f"{times}\n"), "exit code, refused")
    equal((os.listdir(box.path("flood")), x.settled()), ([], []), "made, arrived at X")
    numbers, names, end = told(events)
    equal((end["denied"], end["violations"], end["folded"]), (times, times, 0),
          "denied, violations, folded")
    equal(end["delivered"] + end["lost"], times, "told and lost")
    equal((len(numbers), len(set(names))), (end["delivered"],) * 2, "events, different names")
    equal(numbers, sorted(set(numbers)), "numbers of the events")
    check(end["lost"] > 0 and end["delivered"] > 1000, f"this is no flood: {end}")
    print(f"  {times} in {took:.1f} s: {end['delivered']} told, {end['lost']} lost; {resident:.1f} MiB,"
          f" {quiet:.1f} in a quiet run; meanwhile {len(late)} events of another run, the latest"
          f" {late[-1]:.2f} s late")
    check(resident < quiet + MORE_MIB, f"{resident:.1f} MiB, in a quiet run {quiet:.1f}")
    # The emulator itself may stand still for a moment.
    check(len(late) > took and late[len(late) * 9 // 10] < 2 and late[-1] < 10,
          f"the other run's events came late: {late}")


@limit(300)
def test_as_a_result(box):
    """The one object of --json holds 10,000 refusals at most, counts all, and is bounded."""
    times = 12000
    box.dir("flood")
    # An agent that yields to Comet loses no event, unless the emulator stands still.
    code, out, resident = measured(box, ENDURE, "idle", f"flood {box.path('flood')} {times}",
                                   options=["--json"], before=["taskset", "-c", "0"])
    result = json.loads(out)
    print(f"  {len(result['audit'])} told, {result['audit_lost']} lost; {resident:.1f} MiB")
    equal((code, result["output"], result["violations"], result["audit_truncated"]),
          (3, ["ok", str(times)], times, True), "exit code, refused, violations, truncated")
    told = min(10000, times - result["audit_lost"])
    check(told > 1000, f"{result['audit_lost']} of {times} lost")
    equal(len(result["audit"]), told, "told")
    equal(len({e["requested"] for e in result["audit"]}), told, "different names")
    equal(os.listdir(box.path("flood")), [], "made")
    check(resident < RESULT_MIB, f"{resident:.1f} MiB")
