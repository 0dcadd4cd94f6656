#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is every road to what a manifest does not declare closed? Runs as root in the VM:
coverage.py [--rows N,N-N...] [PERSONA...]

The rows and what they do are tests/coverage/*.c; here they are tried and judged. A row is tried as
each persona:
  hooks  root with all capabilities in the host's namespaces, who joined the run's cgroup: the LSM
         hooks are the only wall
  root   as `comet run` starts an agent that is root
  user   as `comet run` starts an agent of an ordinary user, who owns all files concerned
A cell is one persona's try of a row on one side (see road.h). It is closed if the answer, the
events and what is seen from outside are all as the row says; else it is open, with the reason.
"""
import argparse
import collections
import errno
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib  # noqa: E402

ROADS = "/with/roads"
UIDS = {"hooks": 0, "root": 0, "user": 1000}
SECONDS = 600  # for all rows as one persona, on a machine that does much else
KERNEL = os.environ.get("KERNEL_LABEL", "")


def name_of(number):
    return errno.errorcode.get(number, str(number)) if number else "success"


def before(version):
    """Is this kernel older than that one, if there is one?"""
    def number(text):
        return [int(part) for part in text.split(".")]
    return bool(version) and number(KERNEL) < number(version)


class Row:
    def __init__(self, line):
        word = line.rstrip("\n").split("\t")
        self.number = int(word[0])
        self.name, self.surface, self.op = word[1:4]
        self.answers = {}
        for side, text in zip(("hidden", "readable", "granted"), word[4:7]):
            if text:
                self.answers[side] = [name_of(int(n)) for n in text.split(",")]
        self.walled = [name_of(int(n)) for n in word[7].split(",") if n]
        self.flags = set(word[8].split(",")) - {""}
        self.since = word[9] if word[9] != "0.0" else ""
        self.hooked = word[10] if word[10] != "0.0" else ""
        self.also = word[11]
        self.why = word[12]
        self.cells = {}

    def absent(self):
        """Does this kernel lack the call?"""
        return before(self.since)

    def filtered(self):
        """Does no hook of this kernel see it?"""
        return before(self.hooked)

    def label(self, side):
        return f"{self.number:03}-{side[0]}"

    def as_json(self):
        keys = ("name", "surface", "op", "answers", "walled", "since", "why", "cells")
        return {key: getattr(self, key) for key in keys} | {"flags": sorted(self.flags)}


def roads(*arguments):
    done = subprocess.run([ROADS, *map(str, arguments)], capture_output=True, check=False,
                          timeout=300, errors="replace", encoding="utf-8")
    if done.returncode:
        sys.exit(f"roads {arguments[0]}: exit {done.returncode}: {done.stdout}{done.stderr}")
    return done


def all_rows(only):
    rows = [Row(line) for line in roads("list").stdout.splitlines()]
    names = collections.Counter(row.name for row in rows)
    twice = [name for name, count in names.items() if count > 1]
    lib.check(not twice, f"two roads of one name: {twice}")
    for row in rows:
        lib.check(row.answers, f"{row.name}: no side is tried")
        lib.check("no-event" not in row.flags and "leaks" not in row.flags or row.why,
                  f"{row.name}: says not why there is no event")
    return [row for row in rows if not only or row.number in only]


class Tried:
    """What one persona met: answer, effect and events by label."""

    def __init__(self):
        self.answers = {}
        self.broken = {}
        self.names = {}
        self.effects = {}
        self.differs = {}
        self.events = collections.defaultdict(list)
        self.strange = []

    def read(self, done):
        for line in (done.stdout + "\n" + done.stderr).splitlines():
            word = line.split("\t")
            if word[0] == "tried":
                answer = word[2]
                self.answers[word[1]] = name_of(int(answer)) if answer.isdigit() else answer
            elif word[0] == "broken":
                self.broken[word[1]] = " ".join(word[2:])
            elif word[0] == "names":
                self.names[word[1]] = word[2]
            elif word[0] == "effect":
                self.effects[word[1]] = word[2] == "1"

    def sort_events(self, events):
        by_name = {name: label for label, name in self.names.items()}
        for event in events:
            if event["kind"] != "capability_violation":
                continue
            label = event["comm"].removeprefix("road-")
            if label == event["comm"]:
                # Done by a thread of the kernel on behalf of a row.
                label = by_name.get(event["requested"])
            if label:
                self.events[label].append(event)
            else:
                self.strange.append(event)


def pack_of(box, persona, root, uid, numbers):
    grants = collections.defaultdict(list)
    for line in roads("grants", root, uid, *numbers).stdout.splitlines():
        kind, *words = line.split()
        grants[kind].append(words)
    return box.pack(name=f"roads-{persona}", read=[w[0] for w in grants["fs.read"]],
                    write=[w[0] for w in grants["fs.write"]],
                    programs=[w[0] for w in grants["exec"]],
                    egress=[(w[0], int(w[1]), w[2]) for w in grants["egress"]],
                    **({"serve": [w[0] for w in grants["serve"]]} if grants["serve"] else {}))


def limited(*command):
    """What it said and how it ended; where it does not end, what it said is shown."""
    try:
        return subprocess.run(command, capture_output=True, errors="replace", encoding="utf-8",
                              check=False, stdin=subprocess.DEVNULL, timeout=SECONDS)
    except subprocess.TimeoutExpired as late:
        print((late.stdout or b"").decode(errors="replace")[-4000:])
        sys.exit(f"{command[:2]} did not end within {SECONDS} s")


def started(events):
    """The first event, once there is one: then the run is as it stays."""
    lib.wait(events, 120)
    line = ""
    while not line.endswith("\n"):
        time.sleep(0.02)
        with open(events, encoding="utf-8") as f:
            line = f.readline()
    return json.loads(line)


def try_beside(box, pack, arguments, options):
    """The program in a process that the run's cgroup alone holds."""
    events = box.path("events.ndjson")
    holder = subprocess.Popen(["comet", "run", "--events", events, "--quiet", *options, pack, "--",
                               "/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        procs = "/sys/fs/cgroup" + started(events)["cgroup"].removeprefix("/sys/fs/cgroup")
        done = limited(ROADS, "enter", procs + "/cgroup.procs", *arguments)
    finally:
        holder.stdin.close()
        code = holder.wait(120)
    with open(events, encoding="utf-8") as f:
        return done, code, [json.loads(event) for event in f]


def try_inside(box, pack, persona, arguments, options):
    events = box.path("events.ndjson")
    done = limited("comet", "run", "--events", events, "--quiet", "--user", str(UIDS[persona]),
                   *options, pack, "--", ROADS, "try", *arguments)
    with open(events, encoding="utf-8") as f:
        return done, done.returncode, [json.loads(event) for event in f]


def mount(box, kind):
    """Another filesystem than the root's for all places; returns what is to be done once they are
    made, by which they all come to be in the lower layer of an overlay."""
    place = box.dir("roads")

    def command(*words):
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)

    def overlay(lower, upper):
        work = box.dir(f"work-{upper}")
        command("mount", "-t", "overlay", "overlay", place, "-o",
                f"lowerdir={box.dir(lower)},upperdir={box.dir(upper)},workdir={work}")

    def lower():
        command("umount", place)
        overlay("first", "second")

    if kind == "overlay":
        overlay("none", "first")
        return lower
    if kind == "btrfs":
        image = box.file("image")
        os.truncate(image, 256 << 20)
        command("mkfs.btrfs", "-q", image)
        command("mount", "-o", "loop", image, place)
    else:
        command("mount", "-t", kind, kind, place)
    return lambda: None


def try_all(persona, rows, options, filesystem):
    """All rows as one persona, in one run."""
    box = lib.Box(f"coverage-{persona}")
    settled = mount(box, filesystem) if filesystem else lambda: None
    root, uid = box.path("roads/all" if filesystem else "roads"), UIDS[persona]
    numbers = [row.number for row in rows]
    arguments = [root, str(uid), *map(str, numbers)]
    tried = Tried()
    roads("prepare", *arguments)
    settled()
    pack = pack_of(box, persona, root, uid, numbers)
    outside = subprocess.Popen([ROADS, "outside", *arguments], stdout=subprocess.PIPE, text=True)
    lib.equal(outside.stdout.readline(), "ready\n", "what roads outside says")
    try:
        if persona == "hooks":
            done, code, events = try_beside(box, pack, arguments, options)
        else:
            done, code, events = try_inside(box, pack, persona, arguments, options)
        tried.read(done)
        time.sleep(1)  # for what is still on its way to listeners, and for who looks seldom
    finally:
        outside.kill()
        outside.wait()
    tried.read(roads("effects", *arguments))
    tried.sort_events(events)
    violated = any(e["kind"] == "capability_violation" for e in events)
    expected = 3 if violated and not options else 0
    if not tried.answers or code != expected:
        print(done.stdout[-4000:], done.stderr[-4000:], sep="\n")
        sys.exit(f"{persona}: exit {code}, expected {expected}, of a run with "
                 f"{len(tried.answers)} answers and {len(events)} events")
    last = events[-1]
    lib.equal((last["kind"], last.get("lost", 0)), ("run_completed", 0), "last event, lost events")
    box.close()
    return tried


def wrong_event(row, event, answers, names):
    """Why it is not the event that the row expects, or nothing."""
    for key, wanted in (("surface", row.surface), ("op", row.op)):
        if wanted and event[key] != wanted:
            return f"event has {key} {event[key]}, expected {wanted}"
    if event["errno"] not in answers:
        return f"event has errno {event['errno']}"
    if event["severity"] != "violation" and "quiet" not in row.flags:
        return f"event has severity {event['severity']}"
    if names and "any-name" not in row.flags and event["requested"] != names:
        return f"event names {event['requested']}, expected {names}"
    return None


def judge(row, persona, side, tried):
    """(how it was closed, None) or (None, why it is open)."""
    label = row.label(side)
    answer = tried.answers.get(label)
    events = tried.events[label]
    harmed = tried.effects.get(label)
    inside = "twin-inside" in row.flags and (side == "declared" or "leaks" in row.flags)
    if inside and persona == "hooks":
        return "untried", None
    if label in tried.broken or answer is None:
        return None, f"could not be tried: {tried.broken.get(label, 'nothing was said')}"
    if row.absent() and answer == "ENOSYS" and not events:
        return "absent", None
    walled = persona != "hooks" and answer in row.walled and not events
    if side == "declared":
        if walled and "twin-walled" in row.flags:
            return "wall", None
        if answer != "success" or events:
            return None, f"twin: {answer}, {len(events)} events {said(events)}"
        if "changes" in row.flags and not harmed:
            return None, "twin: success, but nothing is seen of it from outside"
        return "success", None
    answers = row.answers[side]
    if harmed:
        return None, f"{answer}, and it has an effect outside"
    if walled:
        return "wall", None
    if row.filtered() and answer == "EPERM" and not events:
        return "silent", None
    if answer not in answers:
        return None, f"{answer}, expected {' or '.join(answers)}; {said(events)}"
    if row.flags & {"no-event", "leaks"}:
        if events:
            return None, f"{answer}, and an event where none is expected: {said(events)}"
        return "leak" if "leaks" in row.flags else "silent", None
    told = [event for event in events if not row.also or event["op"] != row.also]
    if not told:
        return None, f"{answer}, but no event; {said(events)}"
    for event in told:
        if wrong := wrong_event(row, event, answers, tried.names.get(label)):
            return None, f"{answer}, but {wrong} ({said(events)})"
    return "hook", None


def said(events):
    return "; ".join(f"{e['surface']} {e['op']} {e['errno']} {e['requested']}" for e in events)


def row_numbers(text):
    """All that "3,5-8" names."""
    numbers = set()
    for word in text.split(","):
        first, _, last = word.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return numbers


def hold_programs():
    """A run that lasts: the others adopt its programs, where loading takes seconds here."""
    box = lib.Box("holder")
    events = box.path("events.ndjson")
    holder = subprocess.Popen(["comet", "run", "--quiet", "--events", events, box.usual(), "--",
                               "/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    started(events)
    return holder


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=row_numbers)
    parser.add_argument("--audit", action="store_const", const=["--audit"], default=[],
                        help="refuse nothing: what the rows can do is seen to be done")
    parser.add_argument("--filesystem", choices=("tmpfs", "overlay", "btrfs"))
    parser.add_argument("personas", nargs="*", default=list(UIDS))
    arguments = parser.parse_args()
    rows = all_rows(arguments.rows)
    holder = hold_programs()
    closed, opened = 0, []
    for persona in arguments.personas:
        mine = [row for row in rows if UIDS[persona] == 0 or "root" not in row.flags]
        tried = try_all(persona, mine, arguments.audit, arguments.filesystem)
        for row in mine:
            for side in [*row.answers, "declared"]:
                how, why = judge(row, persona, side, tried)
                closed += why is None
                row.cells.setdefault(persona, {})[side] = {
                    "how": how, "why": why, "answer": tried.answers.get(row.label(side))}
                if why:
                    opened.append(f"{persona}: {row.number} {row.name} ({side}): {why}")
        opened += [f"{persona}: an event of no row: {json.dumps(e)}" for e in tried.strange]
    holder.stdin.close()
    holder.wait()
    for line in opened:
        print("open " + line)
    print("table " + json.dumps({"kernel": KERNEL, "rows": [row.as_json() for row in rows]}))
    print(f"{len(rows)} roads, {closed} cells closed, {len(opened)} open", flush=True)
    return 1 if opened or not rows else 0


sys.exit(main())
