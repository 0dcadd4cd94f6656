#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is every road to what a manifest does not declare closed? Runs as root in the VM:
coverage.py [--rows TABLE,N,N-N...] [PERSONA...]

The rows and what they do are tests/coverage/*.c; here they are tried; judge.py judges. A row is tried as
each persona:
  hooks  root with all capabilities in the host's namespaces, who joined the run's cgroup: the LSM
         hooks are the only wall
  root   as `comet run` starts an agent that is root
  user   as `comet run` starts an agent of an ordinary user, who owns all files concerned
  packets  as hooks, with the hooks on sockets and on capabilities switched off: the packet filter
         is the only wall. Rows that send by IP; closed if nothing arrives, whatever was answered
A cell is one persona's try of a row on one side (see road.h). It is closed if the answer, the
events and what is seen from outside are all as the row says; else it is open, with the reason.
"""
import argparse
import collections
import errno
import fnmatch
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib  # noqa: E402
from judge import judge  # noqa: E402

ROADS = "/with/roads"
UIDS = {"hooks": 0, "root": 0, "user": 1000, "packets": 0}
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
        self.table = word[12]
        self.why = word[13]
        self.cells = {}

    def absent(self):
        """Does this kernel lack the call?"""
        return before(self.since)

    def filtered(self):
        """Does no hook of this kernel see it?"""
        return before(self.hooked)

    def tried_as(self, persona):
        """Is this persona one for the row?"""
        if persona == "packets":
            return "packets" in self.flags
        return UIDS[persona] == 0 or "root" not in self.flags

    def chosen(self, words):
        """Is it among these numbers, ranges and patterns of tables, as "3", "5-8", "net_*"?"""
        def names(word):
            first, _, last = word.partition("-")
            if first.isdigit():
                return int(first) <= self.number <= int(last or first)
            return fnmatch.fnmatch(self.table, word)
        return any(names(word) for word in words)

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
        lib.check(row.why or not row.flags & {"no-event", "leaks", "own-copy", "unseen"},
                  f"{row.name}: says not why")
    return [row for row in rows if not only or row.chosen(only)]


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
        self.audit = False  # nothing was refused

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


def try_beside(box, pack, persona, arguments, options):
    """The program in a process that the run's cgroup alone holds."""
    events = box.path("events.ndjson")
    comet, mode, env = "comet", "enter", None
    if persona == "packets":
        comet, mode = lib.FAULTS, "abreast"
        env = {**os.environ, "COMET_FAULT": "no-socket-hooks,without=comet_capable"}
        # Else a connection is tried for two minutes whose packets are dropped.
        with open("/proc/sys/net/ipv4/tcp_syn_retries", "w", encoding="ascii") as f:
            f.write("1")
    holder = subprocess.Popen([comet, "run", "--events", events, "--quiet", *options, pack, "--",
                               "/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              env=env)
    try:
        procs = "/sys/fs/cgroup" + started(events)["cgroup"].removeprefix("/sys/fs/cgroup")
        done = limited(ROADS, mode, procs + "/cgroup.procs", *arguments)
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
    tried.audit = bool(options)
    roads("prepare", *arguments)
    settled()
    pack = pack_of(box, persona, root, uid, numbers)
    outside = subprocess.Popen([ROADS, "outside", *arguments], stdout=subprocess.PIPE, text=True)
    lib.equal(outside.stdout.readline(), "ready\n", "what roads outside says")
    try:
        function = try_beside if persona in ("hooks", "packets") else try_inside
        done, code, events = function(box, pack, persona, arguments, options)
        tried.read(done)
        time.sleep(1)  # for what is still on its way to listeners, and for who looks seldom
    finally:
        outside.kill()
        outside.wait()
    tried.read(roads("effects", *arguments))
    tried.sort_events(events)
    # The packet filter counts what it drops as an event that was lost.
    last = events[-1] if events else {}
    violated = last.get("lost") or any(e["kind"] == "capability_violation" for e in events)
    expected = 3 if violated and not options else 0
    if not tried.answers or code != expected:
        print(done.stdout[-4000:], done.stderr[-4000:], sep="\n")
        sys.exit(f"{persona}: exit {code}, expected {expected}, of a run with "
                 f"{len(tried.answers)} answers and {len(events)} events")
    lib.equal(last["kind"], "run_completed", "last event")
    lib.check(last["lost"] <= last["dropped"], f"events were lost: {last}")
    box.close()
    return tried


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
    parser.add_argument("--rows", type=lambda text: text.split(","),
                        help="numbers of rows, ranges, names of their tables, such as net_*")
    parser.add_argument("--audit", action="store_const", const=["--audit"], default=[],
                        help="refuse nothing, and show the rows that cannot see what is done")
    parser.add_argument("--filesystem", choices=("tmpfs", "overlay", "btrfs"))
    parser.add_argument("personas", nargs="*", default=list(UIDS))
    arguments = parser.parse_args()
    rows = all_rows(arguments.rows)
    holder = hold_programs()
    closed, opened = 0, []
    for persona in arguments.personas:
        mine = [row for row in rows if row.tried_as(persona)]
        if not mine:
            continue
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
