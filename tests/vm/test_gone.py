# SPDX-License-Identifier: Apache-2.0
"""What becomes of a run when who looks after it, or whom it tells, is gone?"""
import json
import os
import signal
import socket
import subprocess
import time

from lib import PROBES, check, equal, limit, wait
from life import events_of, held, read, same, start, until

ACT = f"{PROBES}/act"
ENDURE = f"{PROBES}/endure"
PRESS = f"{PROBES}/press"


@limit(300)
def test_stopped_and_then_killed(box):
    """For 20 seconds nobody of Comet runs while an agent tries without end: nothing goes through.
    Its events then come, and all is counted. When Comet and its guard are killed it dies.

    A daemon's agents must be held for ever. Here nothing that holds the agent changes as time
    passes, so 20 seconds say as much as an hour; and no agent outlives its comet."""
    x, d = box.listen(socket.SOCK_DGRAM), box.listen(socket.SOCK_DGRAM)
    before = held()
    process = start(box, box.usual(egress=[("127.0.0.1", d.port, "quic")]), PRESS,
                    f"send {d.port} first", f"press {box.s} {x.port} {box.w} 0 word")
    wait(box.path("W/ready"))
    guard = int(subprocess.run(["pgrep", "-P", str(process.pid), "-x", "comet-guard"],
                               capture_output=True, text=True, check=True).stdout)
    for pid in process.pid, guard:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(0.5)
    told = len(events_of(process))
    time.sleep(20)
    equal(len(events_of(process)), told, "events while Comet was stopped")
    for pid in process.pid, guard:
        os.kill(pid, signal.SIGCONT)
    until(lambda: len(events_of(process)) > told + 2, "events afterwards")
    latest = events_of(process)[-1]
    check(latest["sequence"] > 1000, f"the agent did not try: {latest}")
    for pid in process.pid, guard:
        os.kill(pid, signal.SIGSTOP)
    for pid in guard, process.pid:
        os.kill(pid, signal.SIGKILL)
    process.wait()
    agent = events_of(process)[0]["pid"]
    until(lambda: not os.path.exists(f"/proc/{agent}"), "the agent's end", 10)
    check(not os.path.exists(box.path("W/got")), "the undeclared file was read")
    equal((x.settled(), d.got), ([], [b"first"]), "arrived at X and at D")
    # The next run clears up.
    box.run(box.usual(), ACT, f"read {box.s}")
    same(before)


def speak(box, events, options=(), script=None, **streams):
    """A run that says much and is refused something; its process, whose streams are as given."""
    script = script or f'''
        read go <{box.w}/gate
        while read x; do :; done <{box.s}
        echo out; echo err >&2
        while read x; do :; done <{box.root}/none/S
        echo >{box.w}/after'''
    return subprocess.Popen(["comet", "run", "--events", events, *options, box.usual(), "--",
                             "/bin/sh", "-c", "trap '' PIPE\n" + script],
                            stdin=subprocess.DEVNULL, **streams)


def refused_all_the_same(box, process, events):
    """The agent went on to its end, and both refusals are told."""
    equal(process.wait(timeout=60), 3, "exit code")
    check(os.path.exists(box.path("W/after")), "the agent did not go on")
    found = [json.loads(line) for line in read(events).splitlines()]
    equal([e["requested"] for e in found if e.get("severity") == "violation"],
          [box.s, box.path("none/S")], "violations")
    equal((found[-1]["kind"], found[-1]["violations"]), ("run_completed", 2), "last event")
    os.unlink(box.path("W/after"))
    os.unlink(events)


def close_streams():
    for fd in 1, 2:
        os.close(fd)


def test_nobody_hears(box):
    """Streams that are closed, or whose other end goes away, keep no run from its end: the agent
    is held, its events are whole, and the exit code is right."""
    os.mkfifo(box.path("W/gate"))
    box.file("none/S")
    events = box.path("events")
    for options in [], ["--json"]:
        for quiet in [], ["--quiet"]:
            # Closed from the start.
            process = speak(box, events, options + quiet, preexec_fn=close_streams)
            open(box.path("W/gate"), "wb").close()
            refused_all_the_same(box, process, events)
            # Pipes that lose their readers.
            process = speak(box, events, options + quiet, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)
            gate = open(box.path("W/gate"), "wb")  # the agent is at it
            process.stdout.close()
            process.stderr.close()
            gate.close()
            refused_all_the_same(box, process, events)
    # A full device instead of a pipe.
    with open("/dev/full", "wb") as full:
        for options in [], ["--json"]:
            process = speak(box, events, options, stdout=full, stderr=full)
            open(box.path("W/gate"), "wb").close()
            refused_all_the_same(box, process, events)


def test_disk_full(box):
    """Where no room is left for events every refusal stands, and Comet tells how many events are
    missing, and why."""
    disk = box.dir("disk")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], check=True)
    times, events = 300, f"{disk}/events"
    box.dir("flood")
    done = box.comet("run", "--events", events, box.usual(), "--", ENDURE,
                     f"flood {box.path('flood')} {times}")
    equal((done.code, done.out), (3, f"{times}\n"), "exit code, refused")
    equal(os.listdir(box.path("flood")), [], "made")
    check("No space left on device" in done.err, f"no reason: {done.err}")
    missing = int(done.err.partition(" events could not be written")[0].split()[-1])
    lines = read(events).split("\n")
    whole = [json.loads(line) for line in lines[:-1]]
    numbers = [e["sequence"] for e in whole[1:]]
    equal(whole[0]["kind"], "run_started", "first event")
    check(len(whole) > 20 and numbers == sorted(set(numbers)), f"written: {numbers}")
    equal(len(whole) + missing, times + 2, "written and missing, with the start and the end")
    result = box.run(box.usual(), ENDURE, f"flood {box.path('flood')} {times}")
    equal((len(result.events), result.err), (times + 2, ""), "events where there is room, words")
