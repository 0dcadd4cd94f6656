# SPDX-License-Identifier: Apache-2.0
"""Is each of many runs held to its own manifest, at what price, and is each cleaned up?"""
import json
import os
import select
import socket
import subprocess
import time

from lib import PROBES, check, equal, limit
from life import held, same

VARIANTS = ("crowd",)
PRESS = f"{PROBES}/press"
RUNS = 300
KIB_PER_RUN = 8 * 1024  # as the manual says


def available():
    """Memory that the kernel could still give out, KiB."""
    with open("/proc/meminfo", encoding="ascii") as f:
        return int([line.split()[1] for line in f if line.startswith("MemAvailable")][0])


class Neighbour:
    """One of the runs: it declares what is its own, and tries what is the next one's."""

    def __init__(self, box, number):
        self.box, self.number = box, number
        self.w, self.r = box.dir(f"n{number}/W"), box.dir(f"n{number}/R")
        self.secret = box.file(f"n{number}/R/secret", f"secret of {number}\n")
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.port = self.socket.getsockname()[1]

    def start(self, following, gate):
        self.following = following
        self.pack = self.box.pack(name=f"n{self.number}", read=[self.w, self.r, gate],
                                  write=[self.w], egress=[("127.0.0.1", self.port, "quic")])
        self.events = self.box.path(f"n{self.number}/events")
        orders = [f"make {self.w}/ready", f"gate {gate}", f"read {self.secret}",
                  f"read {following.secret}", f"make {self.w}/own",
                  f"make {following.w}/of-{self.number}", f"send {self.port} {self.number}",
                  f"send {following.port} {self.number}"]
        self.process = subprocess.Popen(
            ["comet", "run", "--events", self.events, self.pack, "--", PRESS, *orders],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.box.closers.append(self.process.kill)

    def is_ready(self):
        check(self.process.poll() is None,
              f"{self.number} ended before it was ready: {self.process.stderr}")
        return os.path.exists(f"{self.w}/ready")

    def received(self):
        got = []
        while select.select([self.socket], [], [], 0)[0]:
            got.append(self.socket.recv(64).decode())
        return got

    def judge(self):
        out, err = self.process.communicate(timeout=300)
        equal((self.process.returncode, out.split("\n")),
              (3, ["ok", "ok", f"secret of {self.number}", "", "ENOENT", "ok", "EACCES", "ok",
                   "ECONNREFUSED", ""]), f"exit code and answers of {self.number} ({err})")
        equal(sorted(os.listdir(self.w)), ["own", "ready"], f"files of {self.number}")
        equal(self.received(), [str(self.number)], f"arrived at {self.number}")
        with open(self.events, encoding="utf-8") as f:
            events = [json.loads(line) for line in f]
        equal(sorted((e["surface"], e["requested"]) for e in events if "surface" in e),
              sorted([("fs.read", self.following.secret),
                      ("fs.write", f"{self.following.w}/of-{self.number}"),
                      ("egress", f"127.0.0.1:{self.following.port}/udp")]),
              f"violations of {self.number}")


def without_modprobe(box):
    """Nobody is asked for modules: the kernel asks at each mount of bpffs for one that Debian has
    not got, which takes a fifth of a run's start here."""
    path = "/proc/sys/kernel/modprobe"
    with open(path, encoding="ascii") as f:
        program = f.read()

    def put(text):
        with open(path, "w", encoding="ascii") as f:
            f.write(text)

    box.closers.append(lambda: put(program))
    put("\n")


@limit(900)
def test_each_held_to_its_own(box):
    """300 runs at once with 300 manifests: each gets what its own declares and nothing of its
    neighbour's; their memory is bounded; nothing is left of them."""
    without_modprobe(box)
    gate = box.path("gate")
    os.mkfifo(gate, 0o666)
    neighbours = [Neighbour(box, i) for i in range(RUNS)]
    before, memory, start = held(), available(), time.monotonic()
    for i, neighbour in enumerate(neighbours):
        neighbour.start(neighbours[(i + 1) % RUNS], gate)
    while not all(n.is_ready() for n in neighbours):
        time.sleep(0.2)
    started = time.monotonic()
    kib = (memory - available()) // RUNS
    with open(gate, "wb"):
        pass
    for neighbour in neighbours:
        neighbour.judge()
    ended = time.monotonic()
    same(before, 120)
    print(f"  {RUNS} runs: up after {started - start:.1f} s, through after {ended - started:.1f} s "
          f"more, gone after {time.monotonic() - ended:.1f} s; {kib} KiB each")
    check(kib < KIB_PER_RUN, f"{kib} KiB of memory for each run")
