# SPDX-License-Identifier: Apache-2.0
"""Do the switches of the test build do what they say? What stands on them would tell nothing else."""
import os
import socket

from lib import PYTHON, check, equal, meanwhile, wait

VARIANTS = ("faults",)

# The agent tells its capabilities, its place in two namespaces, and what a send answers.
LOOK = """
import errno, os, socket, sys
def send(port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        s.sendto(b"x", ("127.0.0.1", port))
        return "ok"
    except OSError as e:
        return errno.errorcode[e.errno]
with open("/proc/self/status") as f:
    caps = [l.split()[1] for l in f if l.startswith("CapEff")][0]
print(caps, os.getpid() < 10, os.readlink("/proc/self/ns/ipc"), send(int(sys.argv[1])))
"""


def test_they_do_what_they_say(box):
    """Each switch takes away its wall and no other; without it the test build is as the real one."""
    x = box.listen(socket.SOCK_DGRAM)
    with open("/proc/sys/kernel/cap_last_cap", encoding="ascii") as f:
        every = f"{(1 << int(f.read()) + 1) - 1:016x}"

    def look(fault):
        result = box.run(box.usual(), PYTHON, "-c", LOOK, str(x.port), fault=fault)
        caps, small, ipc, answer = result.out.split()
        return caps, small == "True", ipc != os.readlink("/proc/self/ns/ipc"), answer

    usual = look("")
    check(usual[0] != every, "the agent has every capability")
    equal(usual[1:], (True, True, "ECONNREFUSED"), "without faults")
    equal(look("keep-capabilities"), (every, *usual[1:]), "keep-capabilities")
    equal(look("host-pids"), (usual[0], False, *usual[2:]), "host-pids")
    equal(look("host-ipc"), (*usual[:2], False, usual[3]), "host-ipc")
    equal(x.settled(), [], "arrived")
    equal(look("no-socket-hooks"), (*usual[:3], "EPERM"), "no-socket-hooks: the packet filter's")
    equal(x.settled(), [], "arrived")
    equal(look("no-socket-hooks,no-packet-filter"), (*usual[:3], "ok"), "neither")
    equal(x.settled(), [b"x"], "arrived")


LISTEN = """
import os, socket, sys, time
kept = []
for port, kind in zip(sys.argv[3:], (0, 0, 262, 262)):
    kept.append(socket.socket(socket.AF_INET, socket.SOCK_STREAM, kind))
    kept[-1].bind(("127.0.0.1", int(port)))
    kept[-1].listen(8)
open(sys.argv[1], "w").close()
while not os.path.exists(sys.argv[2]):
    time.sleep(0.05)
"""


def test_listener_past_the_hooks(box):
    """Where no hook sees bind and listen, a port that `serve` does not list takes no connection."""
    ready, over = box.path("W/ready"), box.path("W/over")
    reached = []

    def outside():
        wait(ready)
        for port in range(4811, 4815):
            with socket.socket() as s:
                s.settimeout(1)
                reached.append(s.connect_ex(("127.0.0.1", port)) == 0)
        box.file("W/over")

    pack = box.usual(serve=[4811, 4813])
    with meanwhile(outside):
        result = box.run(pack, PYTHON, "-c", LISTEN, ready, over, "4811", "4812", "4813", "4814",
                         fault="no-socket-hooks")
    equal(reached, [True, False, True, False], "reached")
    end = result.events[-1]
    equal((result.code, end["lost"] >= 2), (3, True), f"exit code, losses of {end}")
