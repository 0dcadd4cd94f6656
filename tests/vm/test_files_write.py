# SPDX-License-Identifier: Apache-2.0
"""Can an agent change what its manifest does not let it change, by any kind of change?"""
import os

from lib import CANARY, check, equal, unchanged, violated

# linkat(2) and renameat2(2) with flags, for which Python has no arguments.
CALLS = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def done(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
def exchange(a, b):
    done(libc.renameat2(-100, a.encode(), -100, b.encode(), 2))
def link_descriptor(fd, name):
    done(libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, name.encode(), 0x400))
def temporary(directory):
    return os.open(directory, os.O_TMPFILE | os.O_RDWR, 0o600)
"""


def state(*names):
    """What a change would show in; the times of access aside."""
    found = {}
    for name in names:
        st = os.lstat(name)
        found[name] = (st.st_ino, st.st_mode, st.st_uid, st.st_gid, st.st_size, st.st_nlink,
                       st.st_mtime_ns)
    return found


def operations(result):
    return {(v["op"], v["errno"], v["requested"]) for v in result.violations}


def test_links(box):
    """A hard link gives no second name to what may not be written, whatever names it."""
    hidden = [box.file(f"S{i}", CANARY) for i in range(2)]
    kept = [box.file(f"R/f{i}", "kept") for i in range(2)]
    before = state(*hidden, *kept)
    new = box.path("R/new")
    result = box.tries(box.usual(), [
        (f"os.link({hidden[0]!r}, 'a')", "ENOENT"), (f"os.link({kept[0]!r}, 'a')", "EACCES"),
        (f"link_descriptor(os.open({hidden[1]!r}, os.O_PATH), 'a')", "ENOENT"),
        (f"link_descriptor(os.open({kept[1]!r}, os.O_RDONLY), 'a')", "EACCES"),
        ("os.stat('a')", "ENOENT"),
        (f"os.link('ok', {new!r})", "EACCES"), (f"os.link('ok', {box.path('none')!r})", "ENOENT"),
        ("os.link('ok', 'b')", "ok"), ("link_descriptor(os.open('ok', os.O_RDONLY), 'c')", "ok"),
        ("write('b')", "ok"), ("read('c')", "ok")], before=f"{CALLS}os.chdir({box.w!r})\n")
    equal(state(*hidden, *kept), before, "undeclared and read-only files")
    equal([os.path.lexists(p) for p in (box.path("W/a"), new, box.path("none"))], [False] * 3)
    equal(operations(result),
          {("link", "ENOENT", name) for name in (*hidden, box.path("none"))}
          | {("link", "EACCES", name) for name in (*kept, new)}, "events")
    equal({v["surface"] for v in result.violations}, {"fs.write"}, "surfaces")


def test_renames(box):
    """Neither end of a rename may lie where the agent may not write."""
    names = [box.file(f"R/f{i}", "kept") for i in range(3)] + [box.path("R/d")]
    hidden = [box.file(f"S{i}", CANARY) for i in range(3)]
    for name in ("x", "y", "sub/z"):
        box.file(f"W/{name}", name)
    before = state(*names, *hidden)
    result = box.tries(box.usual(), [
        (f"os.rename('x', {names[0]!r})", "EACCES"), (f"os.rename({names[1]!r}, 'f')", "EACCES"),
        (f"os.rename({names[3]!r}, 'd')", "EACCES"), (f"exchange('x', {names[2]!r})", "EACCES"),
        (f"os.rename('x', {hidden[0]!r})", "ENOENT"), (f"os.rename({hidden[1]!r}, 's')", "ENOENT"),
        (f"exchange({hidden[2]!r}, 'x')", "ENOENT"),
        (f"os.rename('x', {box.path('none')!r})", "ENOENT"),
        ("read('x')", "ok"), ("exchange('x', 'y')", "ok"), ("os.rename('x', 'sub/x')", "ok"),
        ("os.rename('sub', 'moved')", "ok"), ("os.replace('moved/x', 'y')", "ok")],
        before=f"{CALLS}os.chdir({box.w!r})\n")
    equal(state(*names, *hidden), before, "undeclared and read-only files")
    check(not os.path.lexists(box.path("none")), "the file was moved out")
    unchanged(box.path("W/y"), "y")
    equal(sorted(os.listdir(box.w)), ["moved", "ok", "y"], "names in W")
    equal(operations(result), {("rename", "EACCES", name) for name in names}
          | {("rename", "ENOENT", name) for name in (*hidden, box.path("none"))}, "events")


def test_creation(box):
    """A refused creation of any kind leaves no name behind."""
    hidden = box.dir("D")
    makers = {"create": "write({!r})", "mkdir": "os.mkdir({!r})",
              "symlink": "os.symlink('a', {!r})", "mknod": "os.mkfifo({!r})",
              "socket": "socket.socket(socket.AF_UNIX).bind({!r})"}
    answers, expected = [], set()
    for kind, code in makers.items():
        for place in (box.r, hidden, box.w):
            name = os.path.join(place, kind)
            readable = "EACCES" if place == box.r or kind == "create" else "ENOENT"
            answers.append((code.format(name), "ok" if place == box.w else readable))
            if place != box.w:
                expected.add(("mknod" if kind == "socket" else kind, readable, name))
    # Whether the name is there already makes no difference.
    box.file("D/there", CANARY)
    for name in ("there", "none"):
        name = os.path.join(hidden, name)
        answers += [(f"os.open({name!r}, os.O_CREAT | os.O_WRONLY)", "EACCES"),
                    (f"os.open({name!r}, os.O_CREAT | os.O_RDONLY)", "EACCES")]
        expected.add(("open" if "there" in name else "create", "EACCES", name))
    answers.append((f"os.open({box.path('R/f')!r}, os.O_CREAT | os.O_RDONLY)", "ok"))
    result = box.tries(box.usual(), answers)
    equal(os.listdir(hidden), ["there"], "names in the undeclared directory")
    equal(sorted(os.listdir(box.r)), ["d", "f"], "names in R")
    equal(sorted(os.listdir(box.w)), sorted([*makers, "ok"]), "names in W")
    equal(operations(result), expected, "events")
    equal(result.code, 3, "exit code")


def test_truncation(box):
    """A file is not cut short where it may not be written; each way has its event."""
    kept = [box.file(f"R/f{i}", "kept") for i in range(3)]
    before = state(*kept, box.s)
    answers = [(f"os.truncate({kept[0]!r}, 0)", "EACCES"),
               (f"os.open({kept[1]!r}, os.O_RDONLY | os.O_TRUNC)", "EACCES"),
               (f"os.open({kept[2]!r}, os.O_WRONLY | os.O_TRUNC)", "EACCES"),
               (f"os.ftruncate(os.open({kept[0]!r}, os.O_RDONLY), 0)", "EINVAL"),
               (f"os.truncate({box.s!r}, 0)", "ENOENT")]
    inside = [box.file(f"W/f{i}", "cut") for i in range(4)]
    answers += [(f"os.truncate({inside[0]!r}, 0)", "ok"),
                (f"os.open({inside[1]!r}, os.O_RDONLY | os.O_TRUNC)", "ok"),
                (f"os.open({inside[2]!r}, os.O_WRONLY | os.O_TRUNC)", "ok"),
                (f"os.ftruncate(os.open({inside[3]!r}, os.O_RDWR), 0)", "ok")]
    result = box.tries(box.usual(), answers)
    equal(state(*kept, box.s), before, "undeclared and read-only files")
    equal([os.path.getsize(name) for name in inside], [0] * 4, "sizes in W")
    violated(result, *(("fs.write", name) for name in (*kept, box.s)))
    equal(operations(result), {("truncate", "EACCES", name) for name in kept}
          | {("truncate", "ENOENT", box.s)}, "events")
    equal(sum(v["count"] for v in result.violations), 4, "one event each")


def test_removal(box):
    """A name is not removed from where the agent may not write."""
    box.dir("W/d")
    hidden = box.dir("D")
    result = box.tries(box.usual(), [
        (f"os.unlink({box.path('R/f')!r})", "EACCES"), (f"os.rmdir({box.path('R/d')!r})", "EACCES"),
        (f"os.unlink({box.s!r})", "ENOENT"), (f"os.rmdir({hidden!r})", "ENOENT"),
        (f"os.unlink({box.path('W/ok')!r})", "ok"), (f"os.rmdir({box.path('W/d')!r})", "ok")])
    equal(sorted(os.listdir(box.r)), ["d", "f"], "names in R")
    equal([os.path.exists(p) for p in (box.s, hidden)], [True, True], "undeclared names")
    equal(os.listdir(box.w), [], "names in W")
    equal(operations(result), {
        ("unlink", "EACCES", box.path("R/f")), ("rmdir", "EACCES", box.path("R/d")),
        ("unlink", "ENOENT", box.s), ("rmdir", "ENOENT", hidden)}, "events")
    equal(result.code, 3, "exit code")


def test_mode_and_owner(box):
    """Mode and owner stay as they are where the agent may not write, by path and by descriptor."""
    kept = [box.file(f"R/f{i}", "kept") for i in range(5)] + [box.path("R/d")]
    hidden = [box.file(f"S{i}", CANARY) for i in range(2)]
    before = state(*kept, *hidden)
    answers = []
    for paths, answer in ((kept, "EACCES"), ([box.path("W/ok")] * 6, "ok")):
        answers += [(f"os.chmod({paths[0]!r}, 0o777)", answer),
                    (f"os.chown({paths[1]!r}, 1000, 1000)", answer),
                    (f"os.chown({paths[2]!r}, 1000, 1000, follow_symlinks=False)", answer),
                    (f"os.fchmod(os.open({paths[3]!r}, os.O_RDONLY), 0o777)", answer),
                    (f"os.fchown(os.open({paths[4]!r}, os.O_RDONLY), 1000, 1000)", answer)]
    answers += [(f"os.chmod({kept[5]!r}, 0o777)", "EACCES"),
                (f"os.chmod({hidden[0]!r}, 0o777)", "ENOENT"),
                (f"os.chown({hidden[1]!r}, 1000, 1000)", "ENOENT")]
    result = box.tries(box.usual(), answers)
    equal(state(*kept, *hidden), before, "undeclared and read-only files")
    equal(os.stat(box.path("W/ok"))[4], 1000, "owner in W")
    equal(operations(result),
          {("chmod", "EACCES", kept[i]) for i in (0, 3, 5)} | {("chmod", "ENOENT", hidden[0])}
          | {("chown", "EACCES", kept[i]) for i in (1, 2, 4)} | {("chown", "ENOENT", hidden[1])},
          "events")


def test_times_and_attributes(box):
    """Times and attributes stay as they are where the agent may not write, and tell nothing of
    what is hidden."""
    kept = [box.file(f"R/f{i}", "kept") for i in range(3)]
    hidden = [box.file(f"S{i}", CANARY) for i in range(3)]
    for name in (*kept, *hidden, box.path("W/ok")):
        os.setxattr(name, "user.there", b"value")
    before = state(*kept, *hidden)
    answers, expected = [], set()
    for names, change, look in ((kept, "EACCES", "ok"), (hidden, "ENOENT", "ENOENT"),
                                ([box.path("W/ok")] * 3, "ok", "ok")):
        steps = [("getxattr", f"os.getxattr({names[1]!r}, 'user.there')", look),
                 ("getxattr", f"os.listxattr({names[0]!r})", look),
                 ("utimes", f"os.utime({names[0]!r}, (1, 1))", change),
                 ("setxattr", f"os.setxattr({names[1]!r}, 'user.new', b'x')", change),
                 ("setxattr", f"os.removexattr({names[2]!r}, 'user.there')", change)]
        answers += [(code, answer) for _, code, answer in steps]
        expected |= {(op, answer, code.split("'")[1]) for op, code, answer in steps
                     if answer != "ok"}
    result = box.tries(box.usual(), answers)
    equal(state(*kept, *hidden), before, "undeclared and read-only files")
    equal([os.listxattr(name) for name in (*kept, *hidden)], [["user.there"]] * 6, "attributes")
    equal(os.listxattr(box.path("W/ok")), ["user.new"], "attributes in W")
    equal(int(os.stat(box.path("W/ok")).st_mtime), 1, "time in W")
    equal(operations(result), expected, "events")
    equal(result.code, 3, "exit code")


def test_files_without_a_name(box):
    """O_TMPFILE needs the right to write in its directory, and so does naming the file."""
    hidden = box.dir("D")
    result = box.tries(box.usual(), [
        (f"temporary({box.r!r})", "EACCES"), (f"temporary({hidden!r})", "ENOENT"),
        (f"temporary({box.w!r})", "ok"), ("os.write(fd, b'new')", "ok"), ("os.fstat(fd)", "ok"),
        (f"link_descriptor(fd, {box.path('R/new')!r})", "EACCES"),
        (f"link_descriptor(fd, {box.path('W/new')!r})", "ok")],
        before=f"{CALLS}fd = temporary({box.w!r})\n")
    unchanged(box.path("W/new"), "new")
    equal(sorted(os.listdir(box.r)), ["d", "f"], "names in R")
    equal(operations(result), {("open", "EACCES", box.r), ("open", "ENOENT", hidden),
                               ("link", "EACCES", box.path("R/new"))}, "events")
    equal(result.code, 3, "exit code")
