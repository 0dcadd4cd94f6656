# SPDX-License-Identifier: Apache-2.0
"""Is a device node opened for the rule that names it, and for no directory that it stands in?

All nodes here are made outside, by the tests; an agent cannot make any. In W stand `zero` and
`full`, which are harmless; a disk would be opened the same way.
"""
import json
import os
import stat
import subprocess

from lib import check, clean, equal, violated, wait
from life import read
from terminal import Terminal


def node(box, name, minor, kind=stat.S_IFCHR, major=1):
    os.mknod(box.path(name), kind | 0o666, os.makedev(major, minor))
    os.chmod(box.path(name), 0o666)
    return box.path(name)


def test_device_in_a_granted_directory(box):
    """Who may read and write a directory may not open the devices in it; its files, yes."""
    zero, loop = node(box, "W/zero", 5), node(box, "W/loop", 0, stat.S_IFBLK, 7)
    attempts = [(f"os.open({zero!r}, os.O_RDONLY)", "ENOENT"), (f"write({zero!r})", "EACCES"),
                (f"os.open({zero!r}, os.O_RDWR | os.O_CREAT)", "EACCES"),
                (f"os.open({loop!r}, os.O_RDONLY)", "ENOENT"),
                (f"os.stat({zero!r})", "ok"), (f"read({box.w!r} + '/ok')", "ok"),
                (f"write({box.w!r} + '/ok')", "ok")]
    result = box.tries(box.usual(), attempts)
    equal([(v["surface"], v["errno"], v["requested"]) for v in result.violations],
          [("fs.read", "ENOENT", zero), ("fs.write", "EACCES", zero), ("fs.write", "EACCES", zero),
           ("fs.read", "ENOENT", loop)], "refused")
    equal(result.code, 3, "exit code")
    # By a link and by a descriptor's name it is the same object.
    os.symlink(zero, box.path("W/link"))
    os.link(zero, box.path("W/twin"))
    result = box.tries(box.usual(), [
        (f"read({box.w!r} + '/link')", "ENOENT"), (f"read({box.w!r} + '/twin')", "ENOENT"),
        (f"read('/proc/self/fd/%d' % os.open({zero!r}, os.O_PATH))", "ENOENT")])
    equal({v["requested"] for v in result.violations}, {zero, box.path("W/twin")}, "refused")


def test_device_that_is_named(box):
    """The entry for the node itself opens it, there where it stands."""
    zero, full = node(box, "W/zero", 5), node(box, "W/full", 7)
    pack = box.usual(read=[zero], write=[zero])
    clean(box.python(pack, f"write({box.w!r} + '/out', open({zero!r}, 'rb').read(4))\n"
                           f"write({zero!r}, b'gone')"))
    equal(read(box.path("W/out")), "\0\0\0\0", "what was read from it")
    violated(box.tries(pack, [(f"open({full!r}, 'rb').read(1)", "ENOENT"),
                              (f"open({zero!r}, 'rb').read(1)", "ok")]), ("fs.read", full))


def test_another_device_under_the_declared_name(box):
    """A name that the agent may give to another node does not open that one."""
    zero, full = node(box, "W/zero", 5), node(box, "W/full", 7)
    pack = box.usual(read=[zero])
    clean(box.python(pack, f"os.rename({box.w!r} + '/ok', {box.w!r} + '/other')\n"
                           f"open({zero!r}, 'rb').read(1)"))
    violated(box.tries(pack, [(f"os.rename({full!r}, {zero!r})", "ok"),
                              (f"open({zero!r}, 'rb').read(1)", "ENOENT")]), ("fs.read", zero))
    equal(os.stat(zero).st_rdev, os.makedev(1, 7), "the node that has the name now")


def test_devices_of_the_base_set(box):
    """What every program may use is there: for reading and writing, and for redirections."""
    names = ["null", "zero", "full", "random", "urandom"]
    code = "".join(f"open('/dev/{n}', 'rb').read(1)\nopen('/dev/{n}', 'r+b', 0)\n" for n in names)
    clean(box.python(box.usual(), code))
    clean(box.run(box.usual(), "sh", "-c", "echo x >/dev/null 2>&1 </dev/null"))


def test_streams_by_their_names(box):
    """What a run was given as standard output and error it opens by those names, too, also where
    the call would make the file; another file of the same directory it does not."""
    pack, given, other = box.usual(), box.file("given"), box.file("other")
    names = "/dev/stdout", "/dev/stderr", "/proc/self/fd/1", "/dev/fd/2"

    def script(redirect):
        return ";".join(f"echo {i} {redirect}{name}" for i, name in enumerate(names))

    result = box.run(pack, "sh", "-c", script(">"))
    clean(result)
    equal((result.out, result.err), ("0\n2\n", "1\n3\n"), "through pipes")
    for more, code, kinds in ("", 0, []), (f"; echo f >{other}", 3, [("fs.write", other)]):
        events = box.path("events-of-streams")
        with open(given, "ab") as to:
            done = subprocess.run(["comet", "run", "--quiet", "--events", events, pack, "--", "sh",
                                   "-c", script(">>") + more], stdout=to, stderr=to,
                                  stdin=subprocess.DEVNULL, check=False)
        told = [json.loads(line) for line in read(events).splitlines()]
        box.notes.append(f"exit {done.returncode}\n{read(given)}\n{told}")
        equal([(e["surface"], e["requested"]) for e in told if e.get("severity") == "violation"],
              kinds, "violations")
        equal(done.returncode, code, "exit code")
        os.unlink(events)
    equal((read(given).split()[:5], read(other)), (list("01230"), ""), "in the files")


def test_terminal_of_the_run(box):
    """The terminal that a run sits at is open to it by all its names."""
    terminal = Terminal("env", "PS1=out> ", "bash", "--norc", "--noprofile", "-i")
    box.closers.append(terminal.close)
    terminal.expect("out> ")
    events = box.path("events")
    terminal.type(
        f"comet run --quiet --events {events} {box.usual(programs=['tty'])} -- sh -c "
        "'echo one >/dev/tty; echo two >$(tty); echo three >&2; read x </dev/tty; "
        f"echo $x >{box.w}/typed; read x </dev/stdin; echo $x >>{box.w}/typed'; echo code=$?\n")
    for word in ("one", "two", "three"):
        terminal.expect(f"\n{word}")
    terminal.type("from tty\n")
    wait(box.path("W/typed"))
    terminal.type("from stdin\n")
    terminal.expect("code=")
    box.notes.append(read(events))
    terminal.expect("0")
    equal(read(box.path("W/typed")), "from tty\nfrom stdin\n", "what was typed")
    equal([e["kind"] for e in map(json.loads, read(events).splitlines())
           if e.get("severity") != "info"], ["run_started", "run_completed"], "events")


PTY = """
import pty
master, slave = os.openpty()
os.write(slave, b"hello")
name = os.ttyname(slave)
os.write(os.open(name, os.O_RDWR | os.O_NOCTTY), b"again")
with open(sys.argv[1], "wb") as f:
    f.write(os.read(master, 5) + os.read(master, 5))
"""


def test_terminals_of_its_own(box):
    """Who declares /dev/ptmx and /dev/pts has pseudo-terminals, which are made as they are needed;
    /dev alone gives none."""
    names = ["/dev/ptmx", "/dev/pts"]
    clean(box.python(box.usual(read=names, write=names), PTY, box.path("W/out")))
    equal(read(box.path("W/out")), "helloagain", "what went through the terminal")
    result = box.python(box.usual(read=["/dev"], write=["/dev"]), PTY, box.path("W/none"))
    equal(result.code, 3, "exit code")
    equal({v["requested"] for v in result.violations}, {"/dev/ptmx"}, "refused")
    check(not os.path.exists(box.path("W/none")), "a terminal was made")
