# SPDX-License-Identifier: Apache-2.0
"""Does a run behave at a terminal?"""
import json
import os
import re
import socket
import time

from lib import ATTEMPT, PYTHON, check, equal, wait
from life import read
from terminal import Terminal


def test_interactive_shell(box):
    """On a terminal an interactive shell has job control, and hands the terminal back."""
    pack = box.usual(programs=["sleep"])
    terminal = Terminal("env", "PS1=out> ", "bash", "--norc", "--noprofile", "-i")
    box.closers.append(terminal.close)
    terminal.expect("out> ")
    events = box.path("events")
    terminal.type(f"comet run --quiet --events {events} --env 'PS1=in> ' "
                  f"--env HISTFILE= {pack} -- bash --norc --noprofile -i\n")
    greeting = terminal.expect("in> ")
    check("job control" not in greeting, greeting)
    terminal.type("sleep 1000\n")
    terminal.expect("sleep 1000")
    time.sleep(0.5)
    terminal.type("\x1a")
    terminal.expect("Stopped")
    terminal.expect("in> ")
    terminal.type("jobs\n")
    terminal.expect("sleep 1000")
    terminal.type("fg\n")
    terminal.expect("in> fg")
    time.sleep(0.5)
    terminal.type("\x03")
    terminal.expect("in> ")
    terminal.type("echo code=$?\n")
    terminal.expect("code=130")
    terminal.type("exit 7\n")
    terminal.expect("out> ")
    box.notes.append(read(events))
    terminal.type("echo code=$?\n")
    terminal.expect("code=7")
    equal([e["kind"] for e in map(json.loads, read(events).splitlines())
           if e.get("severity") != "info"], ["run_started", "run_completed"], "events")


def test_run_as_a_job(box):
    """A run is a job of the shell that started it: it stops, goes on and is interrupted as one."""
    terminal = Terminal("env", "PS1=out> ", "bash", "--norc", "--noprofile", "-i")
    box.closers.append(terminal.close)
    terminal.expect("out> ")
    terminal.type(f"comet run --quiet {box.usual()} -- sh -c "
                  f"'echo > {box.w}/ready; while :; do :; done'\n")
    wait(box.path("W/ready"))
    terminal.type("\x1a")
    terminal.expect("Stopped")
    terminal.expect("out> ")
    terminal.type("fg\n")
    terminal.expect("comet run")
    time.sleep(0.5)
    terminal.type("\x03")
    terminal.expect("out> ")
    terminal.type("echo code=$?\n")
    terminal.expect("code=130")


SPOIL = """
import fcntl, struct
N_NULL, TIOCSETD, TIOCEXCL = 27, 0x5423, 0x540c
attempt(fcntl.ioctl, 0, TIOCEXCL, 0)
fcntl.ioctl(0, TIOCSETD, struct.pack("i", N_NULL))
try:
    os.write(1, b"still a terminal\\n")
except OSError:
    pass
"""


def test_terminal_made_useless(box):
    """An agent that gives its terminal a line discipline which neither reads nor writes, and takes
    it for itself alone, does so for no longer than it runs."""
    program = box.file("R/spoil.py", ATTEMPT + SPOIL)
    terminal = Terminal("env", "PS1=out> ", "bash", "--norc", "--noprofile", "-i")
    box.closers.append(terminal.close)
    terminal.expect("out> ")
    terminal.type(f"comet run --quiet --user 1000 {box.usual()} -- {PYTHON} {program}\n")
    terminal.expect("ok")
    seen = terminal.expect("out> ")
    check("still" not in seen, f"the agent could not spoil the terminal: {seen!r}")
    terminal.type(f"{PYTHON} -c \"import fcntl; "
                  "print('exclusive=%d' % fcntl.ioctl(0, 0x80045440, bytes(4))[0])\"\n")
    terminal.expect("exclusive=0")  # TIOCGEXCL


ODD = """
import ctypes
ctypes.CDLL(None).prctl(15, b"\\x1b[7m\\rcomm", 0, 0, 0)
for name in sys.argv[1:]:
    try:
        read(os.fsencode(name))
    except OSError:
        pass
try:
    socket.socket(socket.AF_UNIX).connect("\\0\\x1b]0;title\\x07")
except OSError:
    pass
"""


def test_names_that_would_steer_the_terminal(box):
    """Whatever a name, an address or a process is called, what Comet prints of it is plain text."""
    names = [b"\x1b[2J", b"\x1b]0;title\x07", b"carriage\rreturn", b"back\b\b\b\b", b"bell\x07",
             b"\xc2\x9b31m", b"\xff\x9b31m", "right to left \u202e".encode()]
    files = [os.fsencode(box.root) + b"/" + name for name in names]
    for path in files:
        with open(path, "wb"):
            pass
    box.listen_unix(socket.SOCK_STREAM, "@\x1b]0;title\x07")
    terminal = Terminal("env", "TERM=dumb", "LANG=C.UTF-8", "comet", "run", box.usual(), "--",
                        PYTHON, "-c", ATTEMPT + ODD, *files)
    box.closers.append(terminal.close)
    seen = terminal.expect("9 violations")
    box.notes.append(repr(seen))
    equal(seen.count('denied fs.read "'), len(files), "lines about names")
    equal(seen.count("denied ipc"), 1, "lines about the socket")
    raw = "[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]|\r(?![\r\n])"
    equal(re.findall(raw, seen), [], "raw control characters")
