# SPDX-License-Identifier: Apache-2.0
"""Whatever of Comet is killed, at whatever step: does anything give way, or stay behind?

The steps are those that a run which comes to its end tells, so a new one is tested unasked.
"""
import concurrent.futures
import os
import re
import signal
import socket
import subprocess
import threading
import time

from lib import FAULTS, PROBES, check, equal, limit
from life import CGROUPS, held, read, same, until

VARIANTS = ("faults",)
PRESS = f"{PROBES}/press"
ROUNDS = 40  # of an agent that is to end by itself


def steps_of(box):
    """All steps, in order: {name: may it fail}."""
    result = box.run(box.usual(name="traced"), PRESS, f"read {box.s}", fault="trace")
    found = re.findall(r"^step (\S+) \d+ ms( may fail)?$", result.err, re.MULTILINE)
    steps = {}
    for name, may_fail in found:
        steps[name] = steps.get(name, False) or bool(may_fail)
    check(len(steps) > 40, f"few steps: {steps}")
    del box.notes[-1]
    return steps


def pids(name):
    found = subprocess.run(["pgrep", "-x", name], capture_output=True, text=True, check=False)
    return found.stdout.split()


def processes(name):
    return len(pids(name))


class Attack:
    """Agents under one manifest that try without end what it does not declare."""

    def __init__(self, box):
        self.box = box
        self.x = box.listen(socket.SOCK_DGRAM)
        self.d = box.listen(socket.SOCK_DGRAM)
        self.pack = box.usual(programs=[PRESS], egress=[("127.0.0.1", self.d.port, "quic")])
        self.steps = steps_of(box)
        self.of_comet = [s for s in self.steps if not s.startswith(("pid1-", "agent"))]
        until(lambda: processes("comet-guard") <= 1, "the end of earlier runs")
        self.before = held()
        self.lock = threading.Lock()
        self.started = 0

    def start(self, fault, rounds=0, options=(), into=None):
        """comet run in the background; it has .word, .dir and .events."""
        with self.lock:
            self.started += 1
            word = f"{self.started}:{fault}"
        directory = self.box.dir(f"W/{self.started}")
        events = self.box.path(f"events-{self.started}")
        command = [FAULTS, "run", "--events", events, *options, self.pack, "--", PRESS,
                   f"send {self.d.port} {word}",
                   f"press {self.box.s} {self.x.port} {directory} {rounds} {word}"]
        process = subprocess.Popen(
            command, env={**os.environ, "COMET_FAULT": fault}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            preexec_fn=into and (lambda: into.enter()))
        process.word, process.dir, process.events = word, directory, events
        self.box.closers.append(process.kill)
        return process

    def starts(self, step):
        """May the command have run when Comet comes to the step?"""
        return self.of_comet.index(step) >= self.of_comet.index("start-sent")

    def ends(self, step):
        """Does Comet come to the step after the command's end alone?"""
        return self.of_comet.index(step) >= self.of_comet.index("exited")

    def ran(self, process):
        return os.path.exists(f"{process.dir}/ready")

    def quiet(self):
        """Nothing of what they tried went through, none of them lives, nothing is left of them."""
        got = [f for f in os.listdir(self.box.w) if os.path.exists(self.box.path(f"W/{f}/got"))]
        equal([read(self.box.path(f"W/{f}/got")) for f in got], [], "the undeclared file was read")
        equal(self.x.settled(), [], "arrived at the undeclared port")
        until(lambda: processes("press") == 0, "the end of all agents")
        same(self.before)

    def clear(self):
        """One more run, whole and sound, after which nothing of the dead ones is left."""
        # A dying guard takes seconds to let go of programs, before 6.5.
        until(lambda: processes("comet-guard") <= 1, "the end of the guards", 60)
        process = self.start("", ROUNDS)
        process.communicate(timeout=60)
        equal(process.returncode, 3, "exit code of the next run")
        check(process.word.encode() in self.d.settled(), f"the next run did not reach D: {self.d.got}")
        self.quiet()


def each(function, items, at_once=3):
    """function of each item, some of them at a time; all that failed is told."""
    failed = []

    def one(item):
        try:
            function(item)
        except Exception as e:  # the others go on
            failed.append(f"{item}: {e}")

    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, items))
    check(not failed, "\n".join(failed))


def killed_at(attack, steps, fault, more=""):
    """Comet is killed at each of the steps: it dies of it, and so does its agent."""
    def one(step):
        process = attack.start(f"{fault}@{step}{more}", ROUNDS if attack.ends(step) else 0)
        process.wait(timeout=60)
        equal(process.returncode, -signal.SIGKILL, "exit code")
        if not attack.starts(step):
            check(not attack.ran(process), "the command has run")
        if attack.ends(step):
            check(attack.ran(process), "the command has not run")

    each(one, steps)


@limit(300)
def test_comet_at_each_step(box):
    """kill -9 of Comet at each step: its guard cleans up, at once."""
    attack = Attack(box)
    guarded = attack.of_comet.index("two-guards")
    killed_at(attack, attack.of_comet[:guarded], "kill")
    # Until the guard stands there is no more than a record, for the next run to clear.
    attack.clear()
    # From then on no other run may clear up; but a policy that holds nobody yet it does remove.
    killed_at(attack, attack.of_comet[guarded:], "kill", ",keep-leftovers")
    attack.quiet()
    attack.clear()


@limit(300)
def test_comet_and_its_guard_at_each_step(box):
    """kill -9 of both at once, at each step: no task lives on, and the next run cleans up."""
    attack = Attack(box)
    killed_at(attack, attack.of_comet, "kill-both")
    killed_at(attack, ["violation"], "kill-both")
    until(lambda: processes("press") == 0, "the end of all agents")
    check(held() != attack.before, "nothing was left behind: this test tests nothing")
    attack.clear()


@limit(300)
def test_pid_1_and_the_agent_at_each_step(box):
    """What dies of the run itself before the command has started keeps it from starting."""
    attack = Attack(box)

    def one(step):
        process = attack.start(f"kill@{step}", ROUNDS)
        _, err = process.communicate(timeout=60)
        equal((process.returncode == 0, attack.ran(process)), (False, step == "pid1-shed"),
              f"exit code {process.returncode}; {err}; ran")

    inside = [s for s in attack.steps if s.startswith(("pid1-", "agent"))]
    check(len(inside) > 6, f"few steps: {inside}")
    each(one, inside)
    attack.quiet()


@limit(300)
def test_steps_that_fail(box):
    """Each step that fails keeps the command from running: exit 125, and why; nothing is left."""
    attack = Attack(box)

    def one(step):
        process = attack.start(f"fail@{step}", ROUNDS)
        _, err = process.communicate(timeout=60)
        equal(process.returncode, 125, "exit code")
        check("as COMET_FAULT says" in err or "Input/output error" in err, f"no reason: {err}")
        check(not attack.ran(process), "the command has run")

    fallible = [name for name, may_fail in attack.steps.items() if may_fail]
    check(len(fallible) > 10, f"few steps: {fallible}")
    each(one, fallible)
    attack.quiet()


def state(pid):
    return read(f"/proc/{pid}/stat").rpartition(")")[2].split()[0]


@limit(300)
def test_stopped_at_each_step(box):
    """SIGSTOP of Comet at each step: what runs is held meanwhile; SIGCONT, and all goes on."""
    attack = Attack(box)

    def one(step):
        process = attack.start(f"stop@{step}", ROUNDS)
        until(lambda: state(process.pid) == "T", f"stop at {step}")
        time.sleep(0.1)
        if not attack.starts(step):
            check(not attack.ran(process), "the command has run")
        # It stops as often as it comes there.
        while process.poll() is None:
            process.send_signal(signal.SIGCONT)
            time.sleep(0.02)
        equal((process.returncode, attack.ran(process)), (3, True), "exit code, ran")

    each(one, attack.of_comet)
    attack.quiet()
    words = {f"stop@{step}" for step in attack.of_comet}
    equal({word.decode().partition(":")[2] for word in attack.d.got}, words, "arrived at D")


class Limited:
    """A cgroup with little memory, in which Comet is started."""

    def __init__(self, box, together):
        self.path = f"{CGROUPS}/{box.name}"
        with open(f"{CGROUPS}/cgroup.subtree_control", "w", encoding="ascii") as f:
            f.write("+memory")
        os.mkdir(self.path)
        self.set("memory.max", "100M")
        self.set("memory.oom.group", "1" if together else "0")
        box.closers.append(lambda: os.rmdir(self.path))

    def set(self, name, value):
        with open(f"{self.path}/{name}", "w", encoding="ascii") as f:
            f.write(value)

    def enter(self):
        self.set("cgroup.procs", str(os.getpid()))

    def kills(self):
        return int(re.search("^oom_kill (\\d+)$", read(f"{self.path}/memory.events"),
                             re.MULTILINE).group(1))


def starved(box, together, more=""):
    attack = Attack(box)
    limited = Limited(box, together)

    def one(step):
        process = attack.start(f"oom@{step}{more}", ROUNDS if attack.ends(step) else 0,
                               into=limited)
        process.wait(timeout=60)
        equal(process.returncode, -signal.SIGKILL, "exit code")
        check(attack.starts(step) or not attack.ran(process), "the command has run")

    steps = ["prepared", "locked", "cgroup-made", "cloned", "objects-added", "bound",
             "start-sent", "violation", "drain", "policy-removed"]
    # One at a time: the kernel would kill others of the cgroup, too.
    each(one, steps, at_once=1)
    check(limited.kills() >= len(steps), f"{limited.kills()} of {len(steps)} killed for memory")
    until(lambda: processes("press") == 0, "the end of all agents")
    return attack


@limit(300)
def test_out_of_memory(box):
    """Comet is killed for want of memory: its guard cleans up, at once."""
    starved(box, together=False, more=",keep-leftovers").quiet()


@limit(300)
def test_out_of_memory_together(box):
    """The kernel kills the whole cgroup with Comet, guard and agent: the next run cleans up."""
    starved(box, together=True).clear()


@limit(300)
def test_guard_at_its_own_steps(box):
    """Where the guard, too, is killed or stopped at its work, the next run goes on with it."""
    attack = Attack(box)

    def one(step):
        process = attack.start(f"kill@violation,kill@{step}")
        process.wait(timeout=60)
        equal(process.returncode, -signal.SIGKILL, "exit code")

    each(one, ["guard-woken", "guard-cgroup-removed", "guard-policy-removed",
               "guard-record-removed"])
    attack.clear()
    process = attack.start("kill@violation,stop@guard-woken")
    process.wait(timeout=60)
    until(lambda: processes("press") == 0, "the end of the agent whose guard is stopped")
    for pid in map(int, pids("comet-guard")):
        os.kill(pid, signal.SIGCONT)
    attack.quiet()


@limit(300)
def test_the_only_run(box):
    """The same where no other run holds the programs: they go, too, and not before the agent."""
    attack = Attack(box)

    def one(fault):
        """few-programs: this run's programs and maps are its own."""
        process = attack.start(f"few-programs={fault.replace('@', '-')},{fault}")
        process.wait(timeout=60)
        equal(process.returncode, -signal.SIGKILL, "exit code")
        equal(attack.ran(process), fault.endswith("@violation"), "ran")

    each(one, ["kill@one-attached", "kill@published", "kill-both@violation"])
    until(lambda: processes("press") == 0, "the end of all agents")
    attack.clear()


@limit(300)
def test_stopped_while_it_loads(box):
    """A Comet that is stopped while it loads makes others wait, and nothing is let through."""
    attack = Attack(box)
    stopped = attack.start("few-programs=stopped,stop@loaded", ROUNDS)
    until(lambda: state(stopped.pid) == "T", "stop")
    other = attack.start("", ROUNDS)
    time.sleep(2)
    equal((attack.ran(stopped), attack.ran(other), other.poll()), (False, False, None), "ran")
    stopped.send_signal(signal.SIGCONT)
    for process in stopped, other:
        process.communicate(timeout=60)
        equal((process.returncode, attack.ran(process)), (3, True), "exit code, ran")
    attack.quiet()
