# SPDX-License-Identifier: Apache-2.0
"""Can an agent that is root do anything to the kernel of the host, or to its clock?"""
import os
import subprocess
import time

from lib import ATTEMPT, PYTHON, check, clean, equal
from life import bpf

CALLS = """
import ctypes, struct
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *words):
    if libc.syscall(number, *words) < 0:
        raise OSError(ctypes.get_errno(), number)
def of(*numbers):
    return ctypes.create_string_buffer(struct.pack("=" + "".join(
        "Q" if n > 0xffffffff else "I" for n in numbers), *numbers).ljust(128, b"\\0"), 128)
def at(buffer):
    return ctypes.addressof(buffer)
"""

# bpf(2): 321 on x86-64.
BPF = """
path = ctypes.create_string_buffer(b"/sys/fs/bpf/comet")
attempt(call, 321, 0, of(1, 4, 8, 1), 128)                           # MAP_CREATE
code = ctypes.create_string_buffer(bytes([0xb7] + [0] * 7 + [0x95] + [0] * 7))
attempt(call, 321, 5, of(1, 2, at(code), at(path)), 128)             # PROG_LOAD
attempt(call, 321, 7, of(at(path)), 128)                             # OBJ_GET
for number in map(int, sys.argv[1].split(",")):
    attempt(call, 321, 14, of(number), 128)                          # MAP_GET_FD_BY_ID
for number in map(int, sys.argv[2].split(",")):
    attempt(call, 321, 13, of(number), 128)                          # PROG_GET_FD_BY_ID
attempt(call, 321, 12, of(0), 128)                                   # MAP_GET_NEXT_ID
"""


def contents(name):
    return subprocess.run(["bpftool", "-j", "map", "dump", "name", name], capture_output=True,
                          check=False).stdout


def test_bpf(box):
    """No program can be loaded, no map made, found or changed; Comet's maps stay as they are."""
    maps, programs = (sorted(number for number, name in bpf(kind).items()
                             if name.startswith("comet")) for kind in ("map", "prog"))
    check(maps and programs, "nothing is loaded")
    before = contents("comet_layers")
    numbers = [",".join(map(str, some)) for some in (maps, programs)]
    n = 4 + len(maps) + len(programs)
    outside = subprocess.run([PYTHON, "-c", ATTEMPT + CALLS + BPF, *numbers], check=True,
                             capture_output=True, text=True).stdout.split()
    equal(outside, ["ok", "ok", "ENOENT"] + ["ok"] * (n - 3), "outside of a run")
    for user in "root", "agent":
        result = box.python(box.usual(), CALLS + BPF, *numbers, options=["--user", user])
        equal(result.out.split(), ["EPERM"] * n, "answers")
        equal(result.code, 3, "exit code")
        equal({(v["surface"], v["op"]) for v in result.violations}, {("kernel", "bpf")}, "events")
    equal(contents("comet_layers"), before, "the map of who is held")


# Numbers of x86-64.
POWER = """
name = ctypes.create_string_buffer(b"changed")
attempt(call, 246, 0, 0, None, 0)                     # kexec_load
attempt(call, 320, 0, -1, 1, name, 4)                 # kexec_file_load
attempt(call, 175, name, 0, name)                     # init_module
attempt(call, 313, 0, name, 0)                        # finit_module
attempt(call, 176, name, 0)                           # delete_module
attempt(call, 169, 0xfee1dead, 672274793, 0x1234567, None)  # reboot, RESTART
attempt(call, 167, name, 0)                           # swapon
attempt(call, 170, name, 7)                           # sethostname
attempt(call, 248, b"user", b"x", b"x", 1, -3)        # add_key
"""


def test_power_over_the_host(box):
    """The host is not rebooted or renamed and gets no module, kernel, swap or key."""
    name = os.uname().nodename
    for user in "root", "agent":
        result = box.python(box.usual(), CALLS + POWER, options=["--user", user])
        # A keyring that may not be looked at is as good as none.
        check(result.out.split() in (["EPERM"] * 9, ["EPERM"] * 8 + ["ENOKEY"]), result.out)
        # What needs a capability that is not there is refused before Comet is asked.
        equal([(v["surface"], v["op"]) for v in result.violations], [("kernel", "key")], "events")
    equal(os.uname().nodename, name, "the host's name")


# adjtimex(2): 159, clock_adjtime(2): 305. struct timex: modes at 0, freq at 16, all in 208 bytes.
CLOCK = """
day = struct.pack("qq", int(time.time()) + 86400, 0)
def timex(modes):
    return ctypes.create_string_buffer(struct.pack("I", modes).ljust(208, b"\\0"), 208)
attempt(call, 164, day, None)                         # settimeofday
attempt(call, 164, None, b"\\0" * 8)
attempt(call, 227, 0, day)                            # clock_settime
attempt(call, 159, timex(2))                          # ADJ_FREQUENCY
attempt(call, 159, timex(0x100))                      # ADJ_SETOFFSET
attempt(call, 305, 0, timex(2))
attempt(call, 305, 0, timex(0x100))
"""

READ_CLOCK = """
attempt(call, 159, timex(0))
attempt(call, 305, 0, timex(0))
attempt(call, 96, ctypes.create_string_buffer(16), None)
attempt(call, 228, 0, ctypes.create_string_buffer(16))
"""


def test_clock(box):
    """No call sets the clock, and each that reads it works."""
    define = CLOCK.partition("attempt")[0]
    for user in "root", "agent":
        before = time.time() - time.monotonic()
        result = box.python(box.usual(), CALLS + CLOCK, options=["--user", user])
        equal(result.out.split(), ["EPERM"] * 7, "answers")
        check(abs(time.time() - time.monotonic() - before) < 5, "the clock was set")
        result = box.python(box.usual(), CALLS + define + READ_CLOCK, options=["--user", user])
        equal(result.out.split(), ["ok"] * 4, "reading")
        clean(result)
