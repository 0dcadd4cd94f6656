# SPDX-License-Identifier: Apache-2.0
"""Can an agent reach a process that is not of its run, or Comet itself?"""
import json
import os
import signal
import subprocess
import time

from lib import ATTEMPT, PYTHON, check, equal, wait
from life import events_of, read, start, until
from terminal import Terminal

TRACE = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 4
ATTACH, DETACH, SEIZE = 16, 17, 0x4206
def trace(request, pid):
    if libc.ptrace(request, pid, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    if request == ATTACH:
        os.waitpid(pid, 0)
        libc.ptrace(DETACH, pid, 0, 0)
child = os.fork()
while not child:
    time.sleep(1)
"""

SIGNALS = """
import signal
def by_pidfd(pid):
    signal.pidfd_send_signal(os.pidfd_open(pid), 15)
child = os.fork()
while not child:
    time.sleep(1)
"""

# The number that the victim has inside, when there is one; and the end, when all was looked at.
MEET = """
w = sys.argv[1]
write(w + "/ready")
wait(w + "/victim")
victim = int(read(w + "/victim"))
"""
PART = """
write(w + "/done")
wait(w + "/end")
"""


def status_of(pid, key):
    for line in read(f"/proc/{pid}/status").splitlines():
        if line.startswith(key + ":"):
            return line.partition(":")[2].strip()
    raise AssertionError(f"{pid} has no {key}")


def victim_in(box, started, user):
    """A process of the user's that has come into the run's pid namespace, so that those inside
    have a number for it, but is in no cgroup of the run; without capabilities, which alone would
    keep others from it. Returns its number outside."""
    joined = subprocess.Popen(["nsenter", "--target", str(started["pid"]), "--pid", "setpriv",
                               f"--reuid={user}", f"--regid={user}", "--init-groups",
                               "--inh-caps=-all", "--bounding-set=-all", "sleep", "1000"],
                              stdin=subprocess.DEVNULL)
    box.closers.append(joined.wait)

    def find():
        # A child of nsenter's, as only children change their pid namespace.
        found = subprocess.run(["pgrep", "-P", str(joined.pid), "-x", "sleep"], text=True,
                               capture_output=True, check=False).stdout.split()
        return int(found[0]) if found else None

    until(find, "the victim")
    return find()


def meet(box, user, attempts, before):
    """An agent that makes the attempts on `victim`, a process outside; what it was refused."""
    os.chmod(box.w, 0o777)
    code = ATTEMPT + MEET + before + "".join(f"attempt(lambda: {what})\n"
                                             for what, _ in attempts) + PART
    process = start(box, box.usual(), PYTHON, "-c", code, box.w, options=["--user", user])
    wait(box.path("W/ready"))
    victim = victim_in(box, events_of(process)[0], user)
    box.file("victim", status_of(victim, "NSpid").split()[-1])
    os.rename(box.path("victim"), box.path("W/victim"))
    wait(box.path("W/done"))
    equal(status_of(victim, "State"), "S (sleeping)", "the victim's state")
    equal(status_of(victim, "TracerPid"), "0", "the victim's tracer")
    equal(os.getpriority(os.PRIO_PROCESS, victim), 0, "the victim's priority")
    box.file("W/end")
    out, err = process.communicate(timeout=60)
    for name in "ready", "victim", "done", "end":
        os.unlink(box.path(f"W/{name}"))
    box.notes.append(f"{out}\n{err}\n{read(process.events)}")
    equal(list(zip([what for what, _ in attempts], out.split())), attempts, "answers")
    equal(process.returncode, 3, "exit code")
    events = [e for e in events_of(process) if e.get("severity") == "violation"]
    os.unlink(process.events)
    equal({e["errno"] for e in events}, {"EPERM"}, "errno of the events")
    return victim, {(e["surface"], e["op"], e["requested"]) for e in events}


def test_tracing_of_others(box):
    """Nobody outside can be traced, also not by its own user; one's own child can."""
    attempts = [("trace(ATTACH, victim)", "EPERM"), ("trace(SEIZE, victim)", "EPERM"),
                ("trace(ATTACH, child)", "ok"), ("trace(SEIZE, child)", "ok")]
    for user in "agent", "root":
        victim, refused = meet(box, user, attempts, TRACE)
        equal(refused, {("ipc", "ptrace", f"pid {victim}")}, "events")


def test_signals_to_others(box):
    """Nobody outside can be signalled or slowed down; one's own child can."""
    attempts = [("os.kill(victim, 15)", "EPERM"), ("os.kill(victim, 9)", "EPERM"),
                ("by_pidfd(victim)", "EPERM"),
                ("os.setpriority(os.PRIO_PROCESS, victim, 9)", "EPERM"),
                ("os.setpriority(os.PRIO_PROCESS, child, 9)", "ok"), ("os.kill(child, 15)", "ok")]
    for user in "agent", "root":
        victim, refused = meet(box, user, attempts, SIGNALS)
        equal({(surface, op) for surface, op, _ in refused},
              {("ipc", "signal"), ("ipc", "schedule")}, "events")


def guards():
    return subprocess.run(["pgrep", "-x", "comet-guard"], capture_output=True, text=True,
                          check=False).stdout.split()


KILLER = """
import signal
numbers, undeclared, port = [int(n) for n in sys.argv[1].split(",")], sys.argv[2], int(sys.argv[3])
for _ in range(100):
    for number in numbers:
        for sig in signal.SIGKILL, signal.SIGSTOP:
            try:
                os.kill(number, sig)
                print("killed", number)
            except (ProcessLookupError, PermissionError):
                pass
    try:
        os.kill(1, signal.SIGKILL)
    except PermissionError:
        pass
attempt(read, undeclared)
attempt(lambda: socket.create_connection(("127.0.0.2", port)))
attempt(run, "/usr/bin/id")
"""


def test_killing_comet(box):
    """Comet, its guard and the run's first process are out of reach; afterwards all is refused
    as before."""
    x = box.listen(address="127.0.0.2")
    ready = box.path("W/ready")
    others = guards()
    for user in "root", "agent":
        os.chmod(box.w, 0o777)
        code = f"{ATTEMPT}wait({ready!r})\nsys.argv[1] = read({ready!r}).decode()\n{KILLER}"
        process = start(box, box.usual(), PYTHON, "-c", code, "?", box.s, str(x.port),
                        options=["--user", user])
        until(lambda: os.path.exists(process.events) and read(process.events).endswith("\n"),
              "the run's start")
        agent = events_of(process)[0]["pid"]
        first = status_of(agent, "PPid")
        # Numbers so high that nobody of the run has one of them.
        box.file("ready", ",".join([str(process.pid), *guards(), first]))
        os.rename(box.path("ready"), ready)
        out, err = process.communicate(timeout=60)
        box.notes.append(f"{out}\n{err}\n{read(process.events)}")
        equal(out.split(), ["ENOENT", "ECONNREFUSED", "EACCES"], "answers")
        equal(process.returncode, 3, "exit code")
        equal(events_of(process)[-1]["kind"], "run_completed", "last event")
        until(lambda: guards() == others, "the guards of the other runs alone")
        os.unlink(ready)
        os.unlink(process.events)
    equal(x.settled(), [], "what arrived at X")


BUSY = """
import os, signal, sys, time
undeclared, got, ready, hangup = sys.argv[1:]
if hangup == "ignored":
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
open(ready, "w").close()
while True:
    try:
        with open(undeclared) as f, open(got, "a") as out:
            out.write(f.read())
    except OSError:
        pass
    time.sleep(0.01)
"""


def busy(box, hangup):
    return [PYTHON, "-c", BUSY, box.s, box.path("W/got"), box.path("W/ready"), hangup]


def ended(box, started):
    """The agent is dead, its cgroup gone, and it read nothing."""
    until(lambda: not os.path.exists(f"/proc/{started['pid']}"), "the agent's death")
    until(lambda: not os.path.exists(started["cgroup"]), "the cgroup's end")
    check(not os.path.exists(box.path("W/got")), "the agent read the undeclared file")
    os.unlink(box.path("W/ready"))


def test_terminal_gone(box):
    """When the terminal goes, the agent ends as any program, and one that does not mind stays
    held."""
    for hangup in "heard", "ignored":
        events = box.path(f"events-{hangup}")
        terminal = Terminal("comet", "run", "--events", events, box.usual(), "--",
                            *busy(box, hangup))
        wait(box.path("W/ready"))
        started = json.loads(read(events).splitlines()[0])
        os.close(terminal.fd)
        if hangup == "ignored":
            time.sleep(1)
            check(os.path.exists(f"/proc/{started['pid']}"), "the agent is dead")
            os.kill(terminal.pid, signal.SIGKILL)
        _, status = os.waitpid(terminal.pid, 0)
        ended(box, started)
        # 3, as it tried to read; SIGHUP's end would be told if it had not.
        equal(os.waitstatus_to_exitcode(status), 3 if hangup == "heard" else -9, "end of comet")
