# SPDX-License-Identifier: Apache-2.0
"""Does a run behave at a terminal?"""
import json
import time

from lib import check, equal, wait
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
