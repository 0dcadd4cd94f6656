#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which end-to-end tests pass? Runs as root in the VM: run.py [--variant V] [PATTERN...].

Each function test_* of each test_*.py beside this file is one behaviour; PATTERN is a part of
MODULE.FUNCTION. A test belongs to the variants of the host named by lib.variant, or by its module's
VARIANTS (default "main").
"""
import argparse
import importlib
import os
import signal
import subprocess
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib  # noqa: E402


class TooLong(Exception):
    pass


def alarm(_signal, _frame):
    raise TooLong("the test took longer than its limit")


def tests_of(variant, patterns):
    here = os.path.dirname(os.path.abspath(__file__))
    for file in sorted(os.listdir(here)):
        if not (file.startswith("test_") and file.endswith(".py")):
            continue
        module = importlib.import_module(file[:-3])
        usual = getattr(module, "VARIANTS", ("main",))
        for name, function in list(vars(module).items()):
            if not name.startswith("test_") or not callable(function):
                continue
            if getattr(function, "variants", usual).count(variant) == 0:
                continue
            full = f"{file[5:-3]}.{name[5:]}"
            if not patterns or any(p in full for p in patterns):
                yield full, function


def run_one(full, function):
    box = lib.Box(full)
    signal.signal(signal.SIGALRM, alarm)
    signal.alarm(getattr(function, "limit", 120))
    start = time.monotonic()
    try:
        function(box)
        failure = None
    except BaseException:  # a test that calls exit() or is interrupted has failed, too
        failure = traceback.format_exc()
    finally:
        signal.alarm(0)
        try:
            box.close()
        except Exception:
            failure = (failure or "") + traceback.format_exc()
    took = time.monotonic() - start
    print(f"{'not ok' if failure else 'ok'} {full} ({took:.1f} s)", flush=True)
    if failure:
        print("  | " + failure.rstrip().replace("\n", "\n  | "), flush=True)
        for note in box.notes:
            print("  > " + note.rstrip().replace("\n", "\n  > "), flush=True)
    return failure is None


def hold_programs():
    """A run that lasts: the later ones adopt its programs, where loading takes seconds here."""
    box = lib.Box("holder")
    events = box.path("events")
    holder = subprocess.Popen(["comet", "run", "--quiet", "--events", events, box.usual(), "--",
                               "/bin/sleep", "7200"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    # What the kernel holds before a test is what it is to hold after it.
    while holder.poll() is None and not (os.path.exists(events) and os.path.getsize(events)):
        time.sleep(0.05)
    return holder


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--variant", default="main")
    parser.add_argument("patterns", nargs="*")
    arguments = parser.parse_args()
    held = arguments.variant in ("main", "tools", "faults", "crowd")
    holder = hold_programs() if held else None
    results = [run_one(*t) for t in tests_of(arguments.variant, arguments.patterns)]
    if holder:
        holder.terminate()
        holder.wait()
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if results and all(results) else 1


sys.exit(main())
