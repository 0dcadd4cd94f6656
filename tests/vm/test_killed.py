# SPDX-License-Identifier: Apache-2.0
"""What holds a run when everything of Comet that could is killed?"""
import os
import signal
import subprocess
import time

from lib import check, limit, variant, wait
from life import bpf, events_of, start, until

# Tries to open argv[1] without end; what it reads goes to argv[2]. argv[3] says that it is at it.
SPIN = """
import os, sys
undeclared, got, ready = sys.argv[1:]
os.close(os.open(ready, os.O_WRONLY | os.O_CREAT))
while True:
    try:
        fd = os.open(undeclared, os.O_RDONLY)
    except OSError:
        continue
    out = os.open(got, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(out, os.read(fd, 4096))
    os.close(out)
    os.close(fd)
"""


def guards():
    found = subprocess.run(["pgrep", "-x", "comet-guard"], capture_output=True, text=True,
                           check=False)
    return [int(pid) for pid in found.stdout.split()]


def kill_with_its_guard(box, pack):
    """Comet and guard killed at once: the agent stays held, and dies; nothing stays loaded."""
    until(lambda: not guards(), "the end of all earlier runs")
    before = bpf("prog"), bpf("map")
    got = box.path("W/got")
    process = start(box, pack, "/usr/bin/python3", "-c", SPIN, box.s, got,
                    box.path("W/ready"))
    wait(box.path("W/ready"))
    started = events_of(process)[0]
    until(lambda: len(guards()) == 1, "the guard alone")
    guard = guards()[0]
    check((bpf("prog"), bpf("map")) != before, "no program is loaded")
    # Else comet may put another guard in the place of the dead one.
    process.send_signal(signal.SIGSTOP)
    os.kill(guard, signal.SIGKILL)
    process.kill()
    killed = time.monotonic()
    until(lambda: not os.path.exists(f"/proc/{started['pid']}"), "the agent's death", 10)
    box.notes.append(f"the agent died after {time.monotonic() - killed:.2f} s")
    check(not os.path.exists(got), f"the agent opened {box.s}")
    process.wait()
    until(lambda: (bpf("prog"), bpf("map")) == before, "nothing left loaded", 60)
    box.notes.append(f"nothing was loaded after {time.monotonic() - killed:.2f} s")
    # Nobody was left to do it.
    os.rmdir(started["cgroup"])


# Not in the main variant, where another run lasts that would hold the programs.

@limit(300)
@variant("cgroup-hybrid")
def test_with_its_guard(box):
    """Comet and guard killed at once: the agent stays held, and dies; nothing stays loaded."""
    kill_with_its_guard(box, box.usual())


@limit(300)
@variant("cgroup-hybrid")
def test_with_its_guard_in_a_container(box):
    """The same where the undeclared file, a decoy, is in a root of the run's own."""
    box.s = "/etc/shadow"
    kill_with_its_guard(box, box.usual(isolation="container"))
