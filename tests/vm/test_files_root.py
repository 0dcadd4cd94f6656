# SPDX-License-Identifier: Apache-2.0
"""Is an agent that is root held by the same rules, whatever capabilities it has?"""
import contextlib
import ctypes
import json
import os
import subprocess

from lib import ATTEMPT, CANARY, PYTHON, check, clean, equal, meanwhile, violated, wait

HANDLES = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def by_handle(place, handle):
    fd = libc.open_by_handle_at(os.open(place, os.O_RDONLY), bytes.fromhex(handle), os.O_RDONLY)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "")
    print(os.read(fd, 99), file=sys.stderr)
"""


def handle_of(path):
    """The handle of path for open_by_handle_at(2), in hexadecimal."""
    buffer = ctypes.create_string_buffer((128).to_bytes(4, "little"), 8 + 128)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.name_to_handle_at(-100, path.encode(), buffer, ctypes.byref(ctypes.c_int()), 0):
        raise OSError(ctypes.get_errno(), path)
    return buffer.raw.hex()


def tries_beside(box, pack, attempts, before="", setup=lambda: None):
    """box.tries() in a process that the run's cgroup alone holds: it has all capabilities, and the
    host's namespaces."""
    code = (ATTEMPT + before + "write(sys.argv[1], b'0')\n"
            + "".join(f"attempt(lambda: {what})\n" for what, _ in attempts))
    done = []
    for name in ("cgroup", "done"):  # of an earlier call
        with contextlib.suppress(FileNotFoundError):
            os.unlink(box.path(f"W/{name}"))

    def join():
        try:
            wait(box.path("W/cgroup"))
            setup()
            with open(box.path("W/cgroup"), encoding="ascii") as f:
                procs = f"/sys/fs/cgroup{f.read().strip().split('::')[1]}/cgroup.procs"
            done.append(subprocess.run([PYTHON, "-c", code, procs], capture_output=True,
                                       text=True, check=False, timeout=60))
        finally:
            box.file("W/done")

    with meanwhile(join):
        result = box.python(pack, f"""
os.chdir({box.w!r})
write("new", read("/proc/self/cgroup"))
os.rename("new", "cgroup")
wait("done")
""")
    box.notes.append(f"beside it: {done[0]}")
    equal(done[0].stdout.splitlines(), [answer for _, answer in attempts], "answers")
    check(CANARY not in done[0].stdout + done[0].stderr, "the canary was printed")
    return result


def test_file_handles(box):
    """A file handle, which names a file without a path, opens declared files alone."""
    hidden = [box.file(f"S{i}", CANARY) for i in range(2)]
    ok, *handles = (handle_of(path) for path in (box.path("W/ok"), *hidden))

    def forget():
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as f:
            f.write("2")
        os.stat(hidden[0])  # the kernel knows the place of this one, not of the other

    result = tries_beside(box, box.usual(), [
        (f"read({box.path('W/ok')!r})", "ok"), (f"by_handle({box.w!r}, {ok!r})", "ok"),
        (f"by_handle({box.w!r}, {handles[0]!r})", "ENOENT"),
        (f"by_handle({box.w!r}, {handles[1]!r})", "ENOENT")], before=HANDLES, setup=forget)
    equal(result.code, 3, "exit code")
    equal(len(result.violations), 2, "violations")
    named = [v["requested"] for v in result.violations]
    check(hidden[0] in named, "no event with the path")
    check(all(name.strip("/") for name in named), "an event that names the whole host")
    # An agent of comet run has not got the capability for it, so that all handles fail alike.
    clean(box.tries(box.usual(), [(f"by_handle({box.w!r}, {handle!r})", "EPERM")
                                  for handle in (ok, *handles)], before=HANDLES))


def test_other_roots(box):
    """The root directory of a process outside is closed, and one's own is no way round the rules."""
    result = tries_beside(box, box.usual(), [
        (f"read({'/proc/1/root' + box.s!r})", "EACCES"),
        (f"read({'/proc/1/root' + box.path('R/f')!r})", "EACCES"),
        (f"read({'/proc/self/root' + box.s!r})", "ENOENT"),
        (f"read({'/proc/self/root' + box.path('R/f')!r})", "ok"),
        (f"write({'/proc/self/root' + box.path('R/f')!r})", "EACCES"),
        (f"os.chroot({box.root!r})", "ok"), ("read('/S')", "ENOENT"), ("read('/R/f')", "ok")])
    violated(result, ("ipc", "pid 1"), ("fs.read", box.s), ("fs.write", box.path("R/f")))


def test_leaving_the_cgroup(box):
    """Root may write to the cgroup filesystem if declared, and yet neither leave its own cgroup
    nor make or remove others."""
    top = "/sys/fs/cgroup"
    other = f"{top}/comet-test-other"
    os.mkdir(other)
    box.closers.append(lambda: os.rmdir(other))
    pack = box.usual(read=[top], write=[top])
    before = f"""
def place():
    return {top!r} + read("/proc/self/cgroup").decode().strip().split("::")[1]
own = place()
def is_at(path):
    assert place() == path, place()
def move(path, file="cgroup.procs"):
    write(path + "/" + file, b"0")
"""
    result = box.tries(pack, [
        (f"move({top!r})", "EACCES"), (f"move({top!r}, 'cgroup.threads')", "EACCES"),
        (f"os.mkdir({other + '/new'!r})", "EACCES"), (f"os.rmdir({other!r})", "EACCES"),
        (f"move({other!r})", "EACCES"), ("is_at(own)", "ok"),
        ("os.makedirs(own + '/a/b')", "ok"), ("move(own + '/a/b')", "ok"),
        ("is_at(own + '/a/b')", "ok"), (f"read({box.s!r})", "ENOENT"),
        (f"read({box.path('R/f')!r})", "ok"), (f"move({top!r})", "EACCES"),
        ("move(own + '/a')", "ok"), ("move(own)", "ok"), ("is_at(own)", "ok")], before=before)
    equal({(v["surface"], v["op"], v["requested"]) for v in result.violations},
          {("fs.read", "open", box.s), ("fs.write", "mkdir", other + "/new"),
           ("fs.write", "rmdir", other),
           *(("kernel", "cgroup_move", f"{place}/{file}") for place, file in (
               (top, "cgroup.procs"), (top, "cgroup.threads"), (other, "cgroup.procs")))},
          "events")
    equal(result.code, 3, "exit code")
    check(not os.path.exists(result.events[0]["cgroup"]), "the run's cgroup was left behind")


def test_leaving_for_the_parent(box):
    """Where comet itself stands deep in the tree, the agent does not get up into its cgroups."""
    outer = "/sys/fs/cgroup/comet-test-outer"
    inner = f"{outer}/inner"
    os.makedirs(inner)
    box.closers.append(lambda: (os.rmdir(inner), os.rmdir(outer)))
    ways = [f"write({f'{place}/{file}'!r}, str(os.getpid()).encode())"
            for place in (outer, inner) for file in ("cgroup.procs", "cgroup.threads")]
    pack = box.usual(read=["/sys/fs/cgroup"], write=["/sys/fs/cgroup"])
    events = box.path("events")
    code = ATTEMPT + "".join(f"attempt(lambda: {way})\n" for way in ways) + """
own = read("/proc/self/cgroup").decode().strip().split("::")[1]
os.mkdir("/sys/fs/cgroup" + own + "/a")
write("/sys/fs/cgroup" + own + "/a/cgroup.procs", b"0")
"""
    done = subprocess.run(["/bin/sh", "-c", 'echo 0 > "$0"/cgroup.procs; exec "$@"', inner, "comet",
                           "run", "--events", events, pack, "--", PYTHON, "-c", code],
                          capture_output=True, text=True, check=False, timeout=60)
    box.notes.append(str(done))
    equal((done.stdout.split(), done.returncode), (["EACCES"] * len(ways), 3), "answers")
    with open(events, encoding="utf-8") as f:
        found = [json.loads(line) for line in f]
    equal(found[-1]["status"], 0, "moving within the run")
    check(found[0]["cgroup"].startswith(inner.removeprefix("/sys/fs/cgroup")) or
          found[0]["cgroup"].startswith(inner), f"the run is at {found[0]['cgroup']}")
    equal({e["requested"] for e in found if e.get("surface") == "kernel"},
          {f"{place}/{file}" for place in (outer, inner)
           for file in ("cgroup.procs", "cgroup.threads")}, "events")
