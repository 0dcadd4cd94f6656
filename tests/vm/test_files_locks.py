# SPDX-License-Identifier: Apache-2.0
"""Does nobody outside wait for a run that may only read?"""
import os

from lib import equal, limit, violated

WAYS = """
import ctypes, fcntl, signal, struct
libc = ctypes.CDLL(None, use_errno=True)
signal.signal(signal.SIGIO, signal.SIG_IGN)
def ask(fd, command, argument):
    if libc.fcntl(fd, command, argument) < 0:
        raise OSError(ctypes.get_errno(), "")
def lease(path, kind):
    with open(path) as f:
        ask(f.fileno(), 1024, kind)
        ask(f.fileno(), 1024, fcntl.F_UNLCK)
def delegation(path):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        ask(fd, 1040, ctypes.create_string_buffer(struct.pack("=IHH", 0, fcntl.F_RDLCK, 0)))
    finally:
        os.close(fd)
def flock(path, kind):
    with open(path) as f:
        fcntl.flock(f, kind)
"""


@limit(300)
def test_locks_and_leases(box):
    """A lease, a delegation or an exclusive lock makes others wait; each needs fs.write. Shared
    locks are free."""
    box.file("W/f")
    newest = os.environ.get("KERNEL_LABEL") == "7.2"
    ways = ["lease('{}/f', fcntl.F_RDLCK)", "lease('{}/f', fcntl.F_WRLCK)",
            "flock('{}/f', fcntl.LOCK_EX)"] + ["delegation('{}')"] * newest
    shared = ["flock('{}/f', fcntl.LOCK_SH)"]
    for uid in 0, 1000:
        for path in ("R", "R/f", "W", "W/f"):
            os.chown(box.path(path), uid, uid)
        options = ["--user", str(uid)]
        result = box.tries(box.usual(), [(way.format(box.w), "ok") for way in ways + shared]
                           + [(way.format(box.r), "EACCES") for way in ways]
                           + [(way.format(box.r), "ok") for way in shared], WAYS, options=options)
        violated(result, *[("fs.write", box.path("R/f"))] + [("fs.write", box.r)] * newest)
        equal({v["op"] for v in result.violations}, {"lock"}, "operations")
