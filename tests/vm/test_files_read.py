# SPDX-License-Identifier: Apache-2.0
"""Can an agent see what its manifest does not declare, on any road to it?"""
import os

from lib import CANARY, PROBES, check, clean, equal, limit, violated

# openat2(2) and statx(2), for which Python has no function.
CALLS = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def done(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result
def openat2(dir, path, flags, resolve):
    how = (ctypes.c_uint64 * 3)(flags, 0, resolve)
    return done(libc.syscall(437, dir, path.encode(), ctypes.byref(how), 24))
def statx(path):
    return done(libc.statx(-100, path.encode(), 0, 0x7ff, ctypes.create_string_buffer(256)))
"""


def secret(result):
    check(CANARY not in result.out + result.err, "the canary was printed")


def test_undeclared_looks_missing(box):
    """An undeclared object and a name that never existed get the same answer; R shows all."""
    hidden = box.dir("D")
    box.file("D/inner", CANARY)
    for place in (box.root, box.r):
        os.symlink("nowhere", os.path.join(place, "link"))
    answers = []
    for place, file, folder, link, answer in (
            (box.root, "S", "D", "link", "ENOENT"),
            (box.root, "none", "none", "none", "ENOENT"),
            (box.r, "f", "d", "link", "ok")):
        file, folder, link = (os.path.join(place, name) for name in (file, folder, link))
        answers += [(code, answer) for code in (
            f"read({file!r})", f"os.stat({file!r})", f"os.lstat({file!r})", f"statx({file!r})",
            f"os.readlink({link!r})", f"os.lstat({link!r})", f"os.listdir({folder!r})",
            f"os.stat({folder!r})")]
    answers += [(f"os.chdir({hidden!r}) or read('inner')", "ENOENT"),
                (f"os.chdir({box.w!r}) or read('../S')", "ENOENT"),
                (f"os.chdir({box.w!r}) or read('../R/f')", "ok")]
    result = box.tries(box.usual(), answers, before=CALLS)
    secret(result)
    violated(result, ("fs.read", box.s), ("fs.read", hidden), ("fs.read", box.path("link")),
             ("fs.read", box.path("D/inner")))
    operations = {(v["op"], v["requested"]) for v in result.violations}
    for operation, name in (("open", "S"), ("stat", "S"), ("open", "D"), ("stat", "D"),
                            ("readlink", "link"), ("stat", "link"), ("open", "D/inner")):
        check((operation, box.path(name)) in operations, f"no event of {operation} {name}")
    equal({v["errno"] for v in result.violations}, {"ENOENT"}, "errno of the events")


def test_proc_roads(box):
    """Another spelling through /proc leads to the same refusal, and the event has the real path."""
    roads = ("/proc/self/root{}/{}", "/proc/self/cwd/../{1}", "/proc/thread-self/root{}/{}",
             "/proc/self/task/%d/root{}/{}", "/proc/%d/root{}/{}")
    answers, expected = [], []
    for i, road in enumerate(roads):
        name = f"S{i}"
        expected.append(("fs.read", box.file(name, CANARY)))
        pid = f" % {'child' if i == 4 else 'os.getpid()'}" if "%d" in road else ""
        answers += [(f"read({road.format(box.root, name)!r}{pid})", "ENOENT"),
                    (f"read({road.format(box.root, 'R/f')!r}{pid})", "ok")]
    # The run's first process is Comet's: nobody inside sees what it sees, there or not.
    answers += [(f"read({'/proc/1/root' + path!r})", "ENOENT")
                for path in (box.s, box.path("none"), box.path("R/f"))]
    result = box.tries(box.usual(), answers, before=f"""
os.chdir({box.w!r})
child = os.fork()
if not child:
    time.sleep(60)
""")
    secret(result)
    violated(result, *expected)


def test_openat2(box):
    """openat2 is answered like open, whatever its resolve flags are."""
    answers, expected = [], []
    for resolve in (0, 4, 0x10):  # none, RESOLVE_NO_SYMLINKS, RESOLVE_IN_ROOT
        hidden = box.file(f"S-{resolve}", CANARY)
        kept = box.file(f"R/f-{resolve}", "kept")
        dir_fd = "os.open('/', os.O_PATH)"
        answers += [(f"openat2({dir_fd}, {hidden!r}, os.O_RDONLY, {resolve})", "ENOENT"),
                    (f"openat2({dir_fd}, {kept!r}, os.O_WRONLY, {resolve})", "EACCES"),
                    (f"openat2({dir_fd}, {kept!r}, os.O_RDONLY, {resolve})", "ok"),
                    (f"openat2({dir_fd}, {box.w + '/ok'!r}, os.O_RDWR, {resolve})", "ok")]
        expected += [("fs.read", hidden), ("fs.write", kept)]
    result = box.tries(box.usual(), answers, before=CALLS)
    secret(result)
    violated(result, *expected)
    equal({v["op"] for v in result.violations}, {"open"}, "operations")


def test_reopened_path_descriptor(box):
    """A descriptor opened with O_PATH gives no more rights than the name of its file."""
    before = (f"s, f, w = (os.open(p, os.O_PATH) for p in ({box.s!r}, {box.path('R/f')!r}, "
              f"{box.path('W/ok')!r}))\n"
              "def again(fd, flags):\n    return os.open(f'/proc/self/fd/{fd}', flags)\n")
    result = box.tries(box.usual(), [
        ("again(s, os.O_RDONLY)", "ENOENT"), ("os.stat(s)", "ENOENT"),
        ("os.fchdir(os.open('..', os.O_PATH)) or read('S')", "ENOENT"),
        ("again(f, os.O_RDONLY)", "ok"), ("again(f, os.O_RDWR)", "EACCES"), ("os.stat(f)", "ok"),
        ("again(w, os.O_RDWR)", "ok")], before=f"os.chdir({box.w!r})\n" + before)
    violated(result, ("fs.read", box.s), ("fs.write", box.path("R/f")))


def test_parents(box):
    """Directories on the way to a declared path can be stat'ed and passed, not listed."""
    parents = [box.root, "/srv/box", "/srv", "/"]
    inner = box.dir("W/sub")
    os.symlink("sub", box.path("W/alias"))
    result = box.python(box.usual(), f"""
os.chdir({inner!r})
assert os.getcwd() == {inner!r}
assert os.path.realpath(".") == os.path.realpath({box.path('W/alias')!r}) == {inner!r}
for parent in {parents!r}:
    attempt(os.stat, parent)
""")
    equal(result.out.split(), ["ok"] * len(parents))
    clean(result)
    result = box.tries(box.usual(),
                       [(f"os.listdir({parent!r})", "ENOENT") for parent in parents]
                       + [(f"os.listdir({box.w!r})", "ok"), (f"os.listdir({box.r!r})", "ok")])
    # Where the agent starts, Python looks for modules: an ordinary probe.
    violated(result, *(("fs.read", parent) for parent in parents if parent != "/"))
    check(("fs.read", "/") in {(e["surface"], e["requested"]) for e in result.probes},
          "listing / must be told")


def test_link_made_inside(box):
    """A symbolic link that the agent makes gives no right on what it points to."""
    absent = box.path("absent")
    result = box.tries(box.usual(), [
        (f"os.symlink({box.s!r}, 's')", "ok"), ("read('s')", "ENOENT"),
        ("os.lstat('s')", "ok"), ("os.readlink('s')", "ok"),
        (f"os.symlink({absent!r}, 'a')", "ok"), ("write('a')", "EACCES"),
        (f"os.symlink({box.path('R/f')!r}, 'f')", "ok"), ("read('f')", "ok"),
        ("write('f')", "EACCES"),
        ("os.symlink('ok', 'o')", "ok"), ("read('o')", "ok"), ("write('o')", "ok")],
        before=f"os.chdir({box.w!r})\n")
    secret(result)
    violated(result, ("fs.read", box.s), ("fs.write", absent), ("fs.write", box.path("R/f")))
    check(not os.path.lexists(absent), "the file behind the link was created")


@limit(300)
def test_link_swapped_while_opened(box):
    """Swapping a file with a link to an undeclared one while it is opened never opens that one."""
    box.file("W/p", "plain\n")
    os.symlink(box.s, box.path("W/q"))
    times = 200000
    result = box.run(box.usual(), f"{PROBES}/swap", box.path("W/p"), box.path("W/q"), str(times),
                     timeout=250)
    words = dict(zip(result.out.split()[::2], map(int, result.out.split()[1::2])))
    equal(words.pop("other", None), 0, "opens with another answer")
    equal(sum(words.values()), times, "opens")
    check(words["plain"] > 0 and words["missing"] > 0, "both files must have been there")
    violated(result, ("fs.read", box.s))
    equal(result.events[-1]["violations"], words["missing"], "refusals counted")


def test_inherited_descriptors(box):
    """Of the descriptors of Comet's caller the agent gets 0, 1 and 2 alone."""
    descriptors = [109, 200]  # low ones may be reserved by a thread that waits in accept(2)
    with open(box.s, "rb") as secret_file:
        for fd in descriptors:
            os.dup2(secret_file.fileno(), fd, inheritable=True)
            box.closers.append(lambda fd=fd: os.close(fd))
    equal(os.pread(109, len(CANARY), 0).decode(), CANARY, "what the caller reads")
    result = box.python(box.usual(), f"""
for fd in {descriptors!r}:
    attempt(lambda: print(os.pread(fd, 99, 0)))
print(*sorted(map(int, os.listdir("/proc/self/fd"))))
""", pass_fds=descriptors)
    clean(result)
    # The fourth is that of the listing.
    equal(result.out.split(), ["EBADF", "EBADF", "0", "1", "2", "3"], "what the agent finds")


def test_dots_and_slashes(box):
    """The spelling of a path neither widens nor narrows what it may open."""
    box.dir("W/sub")
    inside = ["W//ok", "W/./ok", "W/sub/../ok", "W/../W/ok", "../{}/W/ok"]
    outside = ["W/../S", "W/sub/../../S", "W/./.././S", "W//..//S", "../{}/S"]
    name = os.path.basename(box.root)
    result = box.tries(box.usual(), [
        (f"{call}({prefix + '/' + path.format(name)!r})", answer)
        for prefix in (box.root, "/" + box.root)
        for paths, call, answer in ((inside, "read", "ok"), (inside, "write", "ok"),
                                    (outside, "read", "ENOENT"), (outside, "write", "EACCES"))
        for path in paths])
    secret(result)
    violated(result, ("fs.read", box.s), ("fs.write", box.s))
    equal(result.events[-1]["violations"], 4 * len(outside), "refusals counted")
