# SPDX-License-Identifier: Apache-2.0
"""Is every refusal counted, and is every event right?"""
import datetime
import os
import re
import signal
import time

from lib import ATTEMPT, PROBES, PYTHON, check, equal, limit, violated, wait
from life import end_of, events_of, read, start, until

ACT = f"{PROBES}/act"
ENDURE = f"{PROBES}/endure"


def sums_up(end, denied):
    equal(end["denied"], denied, "denied")
    equal(end["delivered"] + end["folded"] + end["lost"], denied, "delivered + folded + lost")


@limit(400)
def test_no_refusal_goes_uncounted(box):
    """Of 100,000 refusals in a loop each is refused and counted, also while nobody reads."""
    files, times = 4000, 100000
    box.dir("many")
    for i in range(files):
        with open(box.path(f"many/{i}"), "wb"):
            pass
    result = box.run(box.usual(), ENDURE, f"storm {box.path('many')} 100 {times}", timeout=200)
    equal(result.out, f"{times}\n", "refused")
    equal(result.code, 3, "exit code")
    end = end_of(result)
    sums_up(end, times)
    equal(end["violations"], times, "violations")
    equal(len(result.violations), end["delivered"], "events")
    # Stopped, Comet reads no event: the ring buffer fills, and the verdicts stay.
    process = start(box, box.usual(programs=[ENDURE]), "/bin/sh", "-c",
                    f'echo > {box.w}/ready; while [ ! -e {box.w}/go ]; do :; done; '
                    f'exec "$0" "$1"', ENDURE, f"storm {box.path('many')} {files} 8000")
    wait(box.path("W/ready"))
    process.send_signal(signal.SIGSTOP)
    box.file("W/go")
    time.sleep(0.1)
    pid = events_of(process)[0]["pid"]
    until(lambda: not os.path.exists(f"/proc/{pid}"), "the end of the stopped run's agent")
    process.send_signal(signal.SIGCONT)
    out, _ = process.communicate(timeout=100)
    equal(out, "8000\n", "refused while Comet was stopped")
    equal(process.returncode, 3, "exit code")
    end = events_of(process)[-1]
    check(end["lost"] > 0, "nothing was lost: the ring buffer did not fill")
    sums_up(end, 8000)


def test_event_times(box):
    """Times are RFC 3339 in UTC, and lie between the run's start and its end."""
    before = datetime.datetime.now(datetime.timezone.utc)
    result = box.run(box.usual(), ACT, f"read {box.s}", "read /etc/shadow")
    after = datetime.datetime.now(datetime.timezone.utc)
    violated(result, ("fs.read", box.s), ("fs.read", "/etc/shadow"))
    times = []
    for event in result.events:
        check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event["ts"]), event["ts"])
        times.append(datetime.datetime.fromisoformat(event["ts"].replace("Z", "+00:00")))
    # Events have milliseconds, cut off.
    cut = datetime.timedelta(milliseconds=1)
    check(before - cut <= times[0] and times[-1] <= after, f"{before} {times} {after}")
    equal(times, sorted(times), "times in the order of the events")
    equal(len(times), 4, "events")


def test_event_pids(box):
    """Events name processes by the numbers that they have on the host."""
    result = box.run(box.usual(programs=["cat"]), "/bin/sh", "-c", 'cat "$0"; :', box.s)
    violated(result, ("fs.read", box.s))
    started, violation = result.events[0], result.violations[0]
    equal(started["kind"], "run_started", "first event")
    equal(violation["ppid"], started["pid"], "the shell's pid")
    check(violation["pid"] > started["pid"], "cat's pid")
    equal(violation["comm"], "cat", "comm")


THREADS = """
import threading
def tell(who):
    attempt(read, sys.argv[1] + who)
    print(who, os.getpid(), threading.get_native_id(), flush=True)
tell("main")
thread = threading.Thread(target=tell, args=["thread"])
thread.start()
thread.join()
if os.fork() == 0:
    tell("child")
    write(sys.argv[2] + "/told")
time.sleep(1000)
"""


def test_event_pids_of_threads(box):
    """Process, thread and parent of an event are those of the host, though the run has other
    numbers for them."""
    for who in "main", "thread", "child":
        box.file(who)
    process = start(box, box.usual(), PYTHON, "-c", ATTEMPT + THREADS, box.path(""), box.w)
    wait(box.path("W/told"))
    until(lambda: len([e for e in events_of(process) if e.get("severity") == "violation"]) == 3,
          "three events")
    started, main, thread, child = [e for e in events_of(process) if e.get("severity") != "info"]
    inner = {}
    for event in started, main, child:
        for line in read(f"/proc/{event['pid']}/status").splitlines():
            if line.startswith("NSpid:"):
                inner[event["pid"]] = int(line.split()[-1])
    process.terminate()
    words = [line.split() for line in process.communicate()[0].splitlines() if " " in line]
    equal((main["pid"], main["tid"]), (started["pid"], started["pid"]), "the first process")
    equal((thread["pid"], thread["ppid"]), (main["pid"], main["ppid"]), "the thread's process")
    check(thread["tid"] not in (main["tid"], child["tid"]), "the thread")
    equal((child["ppid"], child["tid"]), (main["pid"], child["pid"]), "the child's parent")
    equal([int(pid) for _, pid, _ in words],
          [inner[e["pid"]] for e in (main, thread, child)], "the numbers inside")
    check(inner[main["pid"]] != main["pid"], "the numbers inside are those of the host")


def test_events_of_odd_names(box):
    """Whatever bytes a name holds, its event is one line of valid JSON in valid UTF-8."""
    names = [b"\xff\xfe", b"new\nline", b'quote"', b"back\\slash", b"\x01\x02", b"esc\x1b[31m",
             "separator\u2028\u2029\u0085".encode(), b"half \xe2\x82", b"\xed\xa0\x80", b"\x7f",
             "sch\u00f6n".encode(), b"%s%n"]
    root = os.fsencode(box.root)
    files = [root + b"/" + name for name in names]
    long = root
    while len(long) < 4095 - 256:
        long += b"/" + b"d" * 200
        os.mkdir(long)
    files.append(long + b"/" + b"f" * (4095 - len(long) - 1))
    for name in files:
        with open(name, "wb"):
            pass
    result = box.run(box.usual(), "/bin/cat", *[os.fsdecode(name) for name in files])
    equal(result.code, 3, "exit code")
    with open(box.path("events-1.ndjson"), "rb") as f:
        text = f.read().decode("utf-8")
    check(text.endswith("\n") and text.count("\n") == len(text.splitlines()) == len(files) + 2,
          "not one line for each event")
    check(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]", text),
          "a raw control character")
    found = [bytes.fromhex(v["requested_bytes"]) if "requested_bytes" in v
             else v["requested"].encode() for v in result.violations]
    equal(found, files, "requested")


def test_events_of_paths_beyond_the_limit(box):
    """A path that is longer than any that can be named keeps its end, and is marked."""
    directory, name = os.open(box.root, os.O_RDONLY), "d" * 200
    for _ in range(25):
        os.mkdir(name, dir_fd=directory)
        below = os.open(name, os.O_RDONLY, dir_fd=directory)
        os.close(directory)
        directory = below
    os.close(os.open("leaf", os.O_WRONLY | os.O_CREAT, dir_fd=directory))
    os.close(directory)
    result = box.run(box.usual(), ENDURE, f"deep {box.root} {name} leaf")
    equal(result.out, "ENOENT\n", "answer")
    equal(result.code, 3, "exit code")
    violation = result.violations[0]
    check(violation["truncated"], "truncated")
    check(violation["requested"].endswith(f"/{name}/{name}/leaf"), violation["requested"])
