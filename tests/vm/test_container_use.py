# SPDX-License-Identifier: Apache-2.0
"""Do honest programs work under isolation container, and does it leave nothing behind?"""
import os
import socket
import stat
import subprocess
import time

from container import CONTAINER, PERSONAS, contained
from lib import CANARY, PYTHON, Result, check, clean, equal, limit, unchanged, violated, wait
from life import events_of, read, start, until
from terminal import Terminal


def test_honest_programs(box):
    """Ordinary programs work, and look at nothing that they should not."""
    listener = box.listen()
    page = "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"

    def talk(peer):
        with peer:
            peer.recv(65536)
            peer.sendall(page.encode())

    listener.talk = talk
    programs = ["bash", "curl", "git", "node", PYTHON, "sh"]
    script = box.file("R/script", "#!/usr/bin/env python3\nimport ssl\nprint(1)\n", 0o755)
    pack = contained(box, programs=[*programs, script],
                     egress=[("127.0.0.1", listener.port, "http")])
    commands = [
        ["sh", "-c", "true"], ["bash", "-lc", "true"], [PYTHON, "-c", "pass"],
        [PYTHON, "-c", "import ssl, sqlite3, json, multiprocessing; "
                       "ssl.create_default_context(); sqlite3.connect(':memory:')"],
        ["node", "-e", "0"], ["git", "--version"],
        ["curl", "-sSf", f"http://127.0.0.1:{listener.port}/"], [script],
        ["sh", "-c", "git init -q repo && cd repo && git config user.email a@b && "
                     "git config user.name c && echo > f && git add f && git commit -qm d"],
    ]
    for name, options, _ in PERSONAS:
        for command in commands:
            result = box.run(pack, *command, options=[*options, "--workdir", box.dir(f"W/{name}")]
                             if "git init" in command[-1] else options)
            if "git init" in command[-1]:
                continue
            clean(result)
            equal([e["kind"] for e in result.events], ["run_started", "run_completed"],
                  f"{name}: events of {command}")
    equal(listener.got.count(b"connection"), 2, "connections")


def test_writing(box):
    """What is declared for reading alone is refused with EACCES and told, in the base set and
    outside of it; what is declared for writing is written on the host."""
    alone = box.file("alone/file", "before")
    os.chown(alone, 1000, 1000)
    os.chmod(box.r, 0o777)
    os.chmod(box.path("R/f"), 0o666)
    new, base, made = box.path("R/new"), "/usr/bin/comet-test", "/etc/comet-test"
    own = box.path("W/deep/new")
    for name, options, _ in PERSONAS:
        result = box.tries(contained(box, read=[alone], write=[alone, own], name=name), [
            (f"write({box.path('W/' + name)!r})", "ok"),
            (f"os.mkdir({box.path('W/deep')!r}) if {name == 'root'} else None", "ok"),
            (f"os.chmod({box.path('W/deep')!r}, 0o777) if {name == 'root'} else None", "ok"),
            (f"write({own + name!r})", "ok"),
            (f"write({alone!r}, {name.encode()!r})", "ok"),
            (f"write({box.path('R/f')!r})", "EACCES"), (f"write({new!r})", "EACCES"),
            (f"os.rename({box.path('R/f')!r}, {new!r})", "EACCES"),
            (f"write({base!r})", "EROFS"), ("os.chmod('/usr/bin/id', 0o4777)", "EROFS"),
            ("os.utime('/etc/passwd')", "EROFS"), (f"write({made!r})", "EACCES"),
            # Where a file alone is declared, it is mounted: neither deleted nor replaced.
            (f"os.unlink({alone!r})", "EBUSY" if name == "root" else "EACCES"),
        ], options=options)
        violated(result, ("fs.write", box.path("R/f")), ("fs.write", new), ("fs.write", made))
        unchanged(alone, name)
        unchanged(box.path(f"W/{name}"), "x")
        unchanged(own + name, "x")
    unchanged(box.path("R/f"), "read me\n")
    equal(sorted(os.listdir(box.r)), ["d", "f"], "names")
    check(not os.path.exists(base) and not os.path.exists(made), "something was made")
    equal(stat.S_IMODE(os.stat("/usr/bin/id").st_mode), 0o755, "mode of /usr/bin/id")


def test_workdir(box):
    """--workdir is /workdir there too, read-only but for what is declared; the program to start
    may lie anywhere, and the current directory is there, empty."""
    box.file("work/in", "in")
    box.dir("work/out")
    os.chown(box.path("work/out"), 1000, 1000)
    program = box.file("alone/program", '#!/bin/sh\necho x > out/made\nread x < in\necho "$x" > '
                                        'new\n', 0o755)
    pack = box.pack(read=["/workdir"], write=["/workdir/out"], isolation="container")
    for name, options, _ in PERSONAS:
        result = box.run(pack, program, options=["--workdir", box.path("work"), *options])
        unchanged(box.path("work/out/made"), "x\n")
        os.unlink(box.path("work/out/made"))
        equal(sorted(os.listdir(box.path("work"))), ["in", "out"], "names")
        if name == "root":
            violated(result, ("fs.write", "/workdir/new"))
    here = box.dir("here")
    box.file("here/name", CANARY)
    result = box.python(contained(box), f"print(os.getcwd(), os.access({here + '/name'!r}, 0))",
                        cwd=here)
    equal(result.out, f"{here} False\n", "current directory")


def test_tmp_and_terminals(box):
    """/tmp is the run's own where granted; pseudo terminals are its own as well."""
    with open("/tmp/comet-test-host", "w", encoding="ascii") as f:
        f.write(CANARY)
    box.closers.append(lambda: os.unlink("/tmp/comet-test-host"))
    for _, options, _ in PERSONAS:
        result = box.python(contained(box, read=["/tmp"], write=["/tmp/mine"]), """
import pty
print(os.listdir("/tmp"), os.listdir("/dev/pts"))
write("/tmp/mine")
attempt(write, "/tmp/other")
a, b = pty.openpty()
os.write(a, b"typed\\n")
print(os.read(b, 99), os.ttyname(b), os.listdir("/dev/pts"))
""", options=options)
        equal(result.out.splitlines(), ["[] ['ptmx']", "EACCES",
                                        "b'typed\\n' /dev/pts/0 ['0', 'ptmx']"], "output")
        violated(result, ("fs.write", "/tmp/other"))
        # Where one name alone is granted it can be made, as the directory is the run's own.
        result = box.tries(contained(box, write=["/tmp/mine"], name="one"), [
            ("write('/tmp/mine')", "ok"), ("os.listdir('/tmp')", "ENOENT")], options=options)
        violated(result, ("fs.read", "/tmp"))
    check(not os.path.exists("/tmp/mine"), "it was made on the host")


def test_at_a_terminal(box):
    """The operator's terminal can be used, by its name too."""
    terminal = Terminal("comet", "run", "--quiet", *CONTAINER, box.usual(programs=["tty"]), "--",
                        "/bin/sh", "-c", "tty; read x < /dev/tty; echo got-$x; "
                        "read x < /dev/console; echo got-$x")
    box.closers.append(terminal.close)
    terminal.expect("/dev/console")
    terminal.type("one\n")
    terminal.expect("got-one")
    terminal.type("two\n")
    terminal.expect("got-two")


def test_sockets(box):
    """A UNIX socket outside is reached where it is declared for writing, alone or by its
    directory; an undeclared one is not there, and an abstract one is refused."""
    place = box.dir("sockets")
    alone, below, other = (box.path(name) for name in ("alone.socket", "sockets/s", "other"))
    listeners = [box.listen_unix(socket.SOCK_STREAM, name)
                 for name in (alone, below, other, "@comet-test")]
    for path in (alone, below, other):
        os.chmod(path, 0o777)
    for _, options, _ in PERSONAS:
        result = box.python(contained(box, read=[alone, place], write=[alone, place]), f"""
def talk(name):
    s = socket.socket(socket.AF_UNIX)
    s.connect(name)
    s.sendall(b"x")
    s.recv(1)
attempt(talk, {alone!r})
attempt(talk, {below!r})
attempt(talk, {other!r})
attempt(talk, "\\0comet-test")
""", options=options)
        equal(result.out.split(), ["ok", "ok", "ENOENT", "ECONNREFUSED"], "answers")
        violated(result, ("ipc", "@comet-test"))
    equal([l.settled() for l in listeners], [[b"connection", b"x"] * 2] * 2 + [[], []], "arrived")


def test_choice(box):
    """The manifest asks for the container or the command line does; less than the manifest asks
    for is had by that word alone, with a warning."""
    asks = f"print(os.access({box.s!r}, os.F_OK))"
    ordinary, container = box.usual(), box.usual(isolation="container", name="container")
    for pack, options, seen, words in (
            (ordinary, [], True, None), (ordinary, CONTAINER, False, None),
            (container, [], False, None), (container, CONTAINER, False, None),
            (container, ["--isolation", "process"], True, "asks for container"),
            (container, ["--audit"], True, "--audit"),
            (box.pack(read=["/"], isolation="container", name="all"), [], True,
             "declares all of /")):
        result = box.python(pack, asks, options=options)
        equal((result.code, result.out), (0, f"{seen}\n"), f"{pack} {options}")
        check("isolation" in result.err if words else "isolation" not in result.err, result.err)
        check(not words or words in result.err, result.err)
    for options in (["--audit", *CONTAINER], ["--isolation", "microvm"]):
        result = box.run(ordinary, "/bin/true", options=options)
        equal(result.code, 2, f"exit code with {options}")
    microvm = box.usual(isolation="microvm", name="microvm")
    equal(box.run(microvm, "/bin/true").code, 2, "exit code for microvm")


def mounts():
    return sum(1 for _ in open("/proc/self/mountinfo", encoding="utf-8"))


@limit(240)
def test_failures_to_start(box):
    """What keeps the root from being made ends in 125; nothing has run and nothing is left."""
    pack, marker = contained(box), box.path("W/marker")
    command = ["/bin/sh", "-c", f"echo > {marker}"]
    clean(box.run(pack, "/bin/true"))
    limit_file = "/proc/sys/fs/mount-max"
    before = read(limit_file), mounts(), sorted(os.listdir("/sys/fs/cgroup"))

    def few_mounts(options):
        with open(limit_file, "w", encoding="ascii") as f:
            f.write(str(mounts() + 20))
        try:
            return box.run(pack, *command, options=options)
        finally:
            with open(limit_file, "w", encoding="ascii") as f:
                f.write(before[0])

    def directory(options):
        fd = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
        try:
            return box.run(pack, *command, options=options, stdin=fd)
        finally:
            os.close(fd)

    def changed_root(options):
        place = box.dir("root")
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", f"mount --rbind / {place} && exec chroot {place} "
             'comet "$@"', "comet", "run", *options, pack, "--", *command],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        box.notes.append(str(done))
        return Result(done.returncode, done.stdout, done.stderr, [])

    for break_it, reason in ((few_mounts, "cannot show"), (directory, "is a directory"),
                             (changed_root, "not under chroot")):
        result = break_it([])
        equal(result.code, 125, f"exit code: {result.err}")
        check(reason in result.err, result.err)
        check(not os.path.exists(marker), "the command has run")
        equal(result.events, [], "events")
        equal((read(limit_file), mounts(), sorted(os.listdir("/sys/fs/cgroup"))), before, "left")
        # The same is no hindrance without a root to make.
        equal(break_it(["--isolation", "process"]).code, 0, "exit code without a root to make")
        os.unlink(marker)
    clean(box.run(pack, *command))
    check(os.path.exists(marker), "the command has not run")
    equal(mounts(), before[1], "mounts on the host")


def test_the_end(box):
    """When the run ends, or comet is killed, its mounts and decoys go with it."""
    before = mounts(), sorted(os.listdir("/run/comet")) if os.path.exists("/run/comet") else []
    for kill in (False, True):
        ready = box.path(f"W/ready-{kill}")
        process = start(box, contained(box), "/bin/sh", "-c",
                        f"echo > {ready}; while :; do :; done")
        wait(ready)
        agent = [e["pid"] for e in events_of(process) if e["kind"] == "run_started"][-1]
        namespace = os.readlink(f"/proc/{agent}/ns/mnt")
        check(namespace != os.readlink("/proc/self/ns/mnt"), "the run is in the host's namespace")
        process.kill() if kill else process.terminate()
        process.wait()
        until(lambda: not os.path.exists(f"/proc/{agent}"), "the agent's death")
        until(lambda: "docker.sock" not in read("/proc/net/unix"), "the decoys' end")
        until(lambda: (mounts(), sorted(os.listdir("/run/comet"))
                       if os.path.exists("/run/comet") else []) == before, "nothing left behind")
        time.sleep(0.1)
        left = [pid for pid in os.listdir("/proc") if pid.isdigit() and link(pid) == namespace]
        equal(left, [], "processes in the run's namespace")


def link(pid):
    try:
        return os.readlink(f"/proc/{pid}/ns/mnt")
    except OSError:
        return None


def test_behind_sudo(box):
    """An ordinary user's run by sudo is one as that user, in its own directory."""
    os.chown(box.w, 1000, 1000)
    pack = contained(box)
    home = "/home/agent/comet-test"
    os.makedirs(home)
    box.closers.append(lambda: subprocess.run(["rm", "-r", home], check=True))
    box.file(f"{home}/mine", CANARY)
    done = subprocess.run(
        ["sudo", "-u", "agent", "sudo", "comet", "run", "--quiet", pack, "--", PYTHON, "-c",
         f"import os; print(os.getuid(), os.getcwd(), os.access('mine', 0), "
         f"os.access({box.path('R/f')!r}, 4), os.access({box.s!r}, 0))"],
        capture_output=True, text=True, check=False, cwd=home)
    box.notes.append(done.stderr)
    equal((done.returncode, done.stdout), (0, f"1000 {home} False True False\n"), "sudo")
