# SPDX-License-Identifier: Apache-2.0
"""What does an end-to-end test need? A place of its own, packs, runs of comet, and the verdicts.

In the names of the tests: W is declared for reading and writing, R for reading only, S is an
undeclared file that holds CANARY. The file seen from outside, the listener, the exit code and the
events decide, not what the client printed.
"""
import contextlib
import json
import os
import shutil
import socket
import subprocess
import threading
import time

CANARY = "canary-3f1c"
PYTHON = "/usr/bin/python3"
PROBES = "/with/probes"
FAULTS = "/with/faults/comet"  # breaks itself as COMET_FAULT says, see user/fault.c


def variant(*names):
    """Marks a test for other variants of the host than "main"."""
    def mark(function):
        function.variants = names
        return function
    return mark


def limit(seconds):
    """A test that may take longer than two minutes."""
    def mark(function):
        function.limit = seconds
        return function
    return mark


class Result:
    def __init__(self, code, out, err, events):
        self.code = code
        self.out = out
        self.err = err
        self.events = events

    @property
    def violations(self):
        return [e for e in self.events if e["kind"] == "capability_violation"
                and e.get("severity") == "violation"]

    @property
    def probes(self):
        return [e for e in self.events if e["kind"] == "capability_violation"
                and e.get("severity") == "info"]

    def __repr__(self):
        return (f"exit {self.code}\nout: {self.out!r}\nerr: {self.err!r}\n"
                + "\n".join(json.dumps(e) for e in self.events if e["kind"] != "run_started"))


class Box:
    """A test's directory /srv/box/NAME with W, R and S in it, gone afterwards."""

    def __init__(self, name):
        self.name = name
        self.notes = []
        self.root = f"/srv/box/{name}"
        shutil.rmtree(self.root, ignore_errors=True)
        os.makedirs(self.root)
        os.chmod("/srv/box", 0o755)
        self.w = self.dir("W")
        self.r = self.dir("R")
        self.s = self.file("S", CANARY + "\n")
        self.file("R/f", "read me\n")
        self.dir("R/d")
        self.file("W/ok", "fine\n")
        self.closers = []
        self.runs = 0

    def close(self):
        for closer in self.closers:
            closer()
        subprocess.run(["umount", "-R", self.root], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.root, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.root, name)

    def dir(self, name):
        os.makedirs(self.path(name), exist_ok=True)
        return self.path(name)

    def file(self, name, content="", mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content.encode() if isinstance(content, str) else content)
        os.chmod(path, mode)
        return path

    def pack(self, read=(), write=(), egress=(), programs=(), serve=(), name="box",
             version="1.0.0", tier=None, isolation="process", extra=""):
        """A soyapack.v0 manifest; egress entries are (host, port, protocol). Returns its path."""
        def lines(key, values):
            if not values:
                return f"    {key}: []\n"
            return f"    {key}:\n" + "".join(f"      - {json.dumps(v)}\n" for v in values)

        text = (
            "spec_version: soyapack.v0\nkind: Agent\n"
            f"name: {name}\nversion: {version}\ndescription: a test\n"
            "authors: [{name: test}]\nlicense: MIT\nruntime: {compat: '>=0.1.0'}\n"
            "determinism: stateful\nentry: main\n"
            f"expose: {{openai_compat: chat, virtual_model_id: 'soya:{name}'}}\n"
            f"sandbox:\n  image: base@0.1.0\n  isolation: {isolation}\n  capabilities:\n"
            + lines("network_out", [dict(zip(("host", "port", "proto"), e)) for e in egress])
            + lines("fs_read", read) + lines("fs_write", write) + lines("exec", programs)
            + (lines("serve", serve) if serve else "")
            + (f"    determinism_tier: {tier}\n" if tier else "") + extra)
        return self.file(f"pack-{name}-{version}.yaml", text)

    def usual(self, **more):
        """The pack that grants W and R as their names say, and whatever else is asked for."""
        read = [self.w, self.r] + list(more.pop("read", ()))
        write = [self.w] + list(more.pop("write", ()))
        return self.pack(read=read, write=write, **more)

    def comet(self, *arguments, timeout=60, stdin=subprocess.DEVNULL, env=None, fault=None, **more):
        """comet as given; no events. With fault: the one of test builds, which breaks so."""
        program = "comet"
        if fault is not None:
            program, env = FAULTS, {**(env or os.environ), "COMET_FAULT": fault}
        done = subprocess.run([program, *arguments], stdin=stdin, capture_output=True,
                              timeout=timeout, env=env, check=False, **more)
        result = Result(done.returncode, done.stdout.decode(errors="replace"),
                        done.stderr.decode(errors="replace"), [])
        self.notes.append(f"$ comet {' '.join(arguments)}\n{result}")
        return result

    def run(self, pack, *command, options=(), timeout=60, **more):
        """comet run with its events in a file of their own."""
        self.runs += 1
        events = self.path(f"events-{self.runs}.ndjson")
        result = self.comet("run", "--events", events, *options, pack, "--", *command,
                            timeout=timeout, **more)
        if os.path.exists(events):
            with open(events, encoding="utf-8") as f:
                result.events = [json.loads(line) for line in f]
        self.notes[-1] = f"$ comet run ... -- {' '.join(command).replace(ATTEMPT, '')}\n{result}"
        return result

    def python(self, pack, code, *arguments, **more):
        """A Python agent; `code` may use ATTEMPT, see below."""
        return self.run(pack, PYTHON, "-c", ATTEMPT + code, *arguments, **more)

    def tries(self, pack, attempts, before="", **more):
        """A Python agent that makes each (expression, answer of attempt()) in turn."""
        code = before + "".join(f"attempt(lambda: {what})\n" for what, _ in attempts)
        result = self.python(pack, code, **more)
        found = result.out.splitlines()
        found += ["nothing"] * (len(attempts) - len(found))
        wrong = [f"{what}: expected {answer}, found {word}"
                 for (what, answer), word in zip(attempts, found) if word != answer]
        check(not wrong, "\n".join(wrong))
        return result

    def listen(self, kind=socket.SOCK_STREAM, address="127.0.0.1", port=0):
        """A listener that records what arrives. It has .port and .got (list of bytes)."""
        listener = Listener(kind, address, port)
        self.closers.append(listener.close)
        return listener

    def listen_unix(self, kind, name):
        listener = UnixListener(kind, name)
        self.closers.append(listener.close)
        return listener


# For agents: attempt(f) prints the errno name of what f() raises, or "ok"; one word a line.
ATTEMPT = """
import errno, os, socket, subprocess, sys, time
def attempt(f, *a, **k):
    try:
        f(*a, **k)
        print("ok", flush=True)
    except OSError as e:
        print(errno.errorcode.get(e.errno, e), flush=True)
def read(p):
    with open(p, "rb") as f:
        return f.read()
def write(p, d=b"x"):
    with open(p, "wb") as f:
        f.write(d)
def run(*c):
    subprocess.run(c, check=True)
def wait(p):
    while not os.path.exists(p):
        time.sleep(0.02)
"""


@contextlib.contextmanager
def meanwhile(function, *arguments):
    """Runs function in a thread beside the body; what it raises is raised at the body's end."""
    raised = []

    def main():
        try:
            function(*arguments)
        except BaseException as e:
            raised.append(e)

    thread = threading.Thread(target=main, daemon=True)
    thread.start()
    yield
    thread.join(10)
    check(not thread.is_alive(), "what runs beside the agent did not end")
    if raised:
        raise raised[0]


def wait(path, seconds=30):
    """Until path is there; the agent's wait() is its counterpart."""
    end = time.monotonic() + seconds
    while not os.path.exists(path):
        check(time.monotonic() < end, f"{path} did not appear")
        time.sleep(0.02)


def add_hosts(box, lines):
    """More lines of /etc/hosts, until the test ends."""
    with open("/etc/hosts", encoding="ascii") as f:
        before = f.read()

    def write_hosts(text):
        with open("/etc/hosts", "w", encoding="ascii") as f:
            f.write(text)

    box.closers.append(lambda: write_hosts(before))
    write_hosts(before + lines)


class Listener:
    def __init__(self, kind, address, port):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.kind = kind
        self.got = []
        self.socket = socket.socket(family, kind)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        self.socket.bind((address, port))
        if kind == socket.SOCK_STREAM:
            self.socket.listen(64)
        self.address = address
        self.port = self.socket.getsockname()[1]
        self.start()

    def start(self):
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                if self.kind == socket.SOCK_DGRAM:
                    self.got.append(self.socket.recvfrom(65536)[0])
                    continue
                peer, _ = self.socket.accept()
                self.got.append(b"connection")
                threading.Thread(target=self.talk, args=(peer,), daemon=True).start()
            except OSError:
                return

    def talk(self, peer):
        with peer:
            try:
                while data := peer.recv(65536):
                    self.got.append(data)
                    peer.sendall(data)
            except OSError:
                pass

    def settled(self):
        """What arrived, after time for stragglers."""
        time.sleep(0.3)
        return self.got

    def close(self):
        with contextlib.suppress(OSError):  # wakes the thread, though it says ENOTCONN for UDP
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class UnixListener(Listener):
    """The same at a path, or at an abstract name that is written with @ in place of NUL."""

    def __init__(self, kind, name):
        self.kind = kind
        self.got = []
        self.address = name
        self.port = None
        self.socket = socket.socket(socket.AF_UNIX, kind)
        self.socket.bind("\0" + name[1:] if name.startswith("@") else name)
        if kind == socket.SOCK_STREAM:
            self.socket.listen(64)
        self.start()


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def equal(found, expected, what="value"):
    if found != expected:
        raise AssertionError(f"{what}: expected {expected!r}, found {found!r}")


def clean(result, code=0):
    """Nothing was refused, and the command's own exit code came through."""
    equal(result.code, code, "exit code")
    equal(result.violations, [], "violations")
    equal(result.events[-1]["kind"], "run_completed", "last event")


def violated(result, *expected):
    """Exit 3, and exactly these violations, (surface, requested), in any order."""
    equal(result.code, 3, "exit code")
    found = sorted({(v["surface"], v["requested"]) for v in result.violations})
    equal(found, sorted(set(expected)), "violations")
    for v in result.violations:
        equal(v["matched"], "no match", "matched")
    equal([e["kind"] for e in result.events].count("run_completed"), 1, "run_completed events")
    equal(result.events[-1]["kind"], "run_completed", "last event")


def unchanged(path, content):
    with open(path, "rb") as f:
        equal(f.read().decode(), content, path)
