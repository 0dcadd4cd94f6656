# SPDX-License-Identifier: Apache-2.0
"""Does a run under isolation container see what is declared, and no name besides?"""
import json
import os
import socket
import stat
import subprocess
import time

from lib import CANARY, PROBES, PYTHON, Result, check, clean, equal, limit, unchanged, violated, wait
from life import events_of, read, start, until
from terminal import Terminal

# Who the agent is, the options for it, its home.
PERSONAS = (("root", (), "/root"), ("agent", ("--user", "agent"), "/home/agent"))
CONTAINER = ("--isolation", "container")


def contained(box, **more):
    """The usual pack, which asks for the container."""
    os.chown(box.w, 1000, 1000)
    return box.usual(isolation="container", **more)


# Each way to ask for the name p, without opening what is there, or by making it.
ASK = """
import ctypes, json, stat
libc = ctypes.CDLL(None, use_errno=True)
def done(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
def there(p, mode):
    if not os.access(p, mode):
        raise OSError(errno.ENOENT, "")
def program(p):
    pid = os.fork()
    if not pid:
        try:
            os.execv(p, [p])
        except OSError as e:
            os._exit(e.errno)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code:
        raise OSError(code, "")
calls = {
    "access": lambda p: there(p, os.F_OK),
    "access to read": lambda p: there(p, os.R_OK),
    "faccessat2 on the link": lambda p: done(libc.syscall(439, -100, p.encode(), 0, 0x100)),
    "chdir": lambda p: os.chdir(p),
    "statfs": lambda p: os.statvfs(p),
    "O_PATH": lambda p: os.open(p, os.O_PATH),
    "O_PATH on the link": lambda p: os.open(p, os.O_PATH | os.O_NOFOLLOW),
    "stat": lambda p: os.stat(p),
    "lstat": lambda p: os.lstat(p),
    "readlink": lambda p: os.readlink(p),
    "list": lambda p: os.listdir(p),
    "read": lambda p: read(p),
    "program": program,
    "inotify": lambda p: done(libc.inotify_add_watch(libc.inotify_init(), p.encode(), 2)),
    "handle": lambda p: done(libc.name_to_handle_at(
        -100, p.encode(), (128).to_bytes(4, "little") + bytes(132),
        ctypes.byref(ctypes.c_int()), 0)),
    "getxattr": lambda p: os.getxattr(p, "user.none"),
    "connect": lambda p: socket.socket(socket.AF_UNIX).connect(p),
    "truncate": lambda p: os.truncate(p, 0),
    "chmod": lambda p: os.chmod(p, 0o777),
    "utime": lambda p: os.utime(p),
    "unlink": lambda p: os.unlink(p),
    "rmdir": lambda p: os.rmdir(p),
    "rename from": lambda p: os.rename(p, "x"),
    "rename to": lambda p: os.rename("ok", p),
    "link from": lambda p: os.link(p, "x"),
    "link to": lambda p: os.link("ok", p),
    "create": lambda p: os.open(p, os.O_WRONLY | os.O_CREAT | os.O_EXCL),
    "mkdir": lambda p: os.mkdir(p),
    "symlink": lambda p: os.symlink("x", p),
    "mkfifo": lambda p: os.mkfifo(p),
    "bind": lambda p: socket.socket(socket.AF_UNIX).bind(p),
}
def ask(call, path):
    os.chdir(home)
    try:
        calls[call](path)
        return "ok"
    except OSError as e:
        return errno.errorcode.get(e.errno, str(e.errno))
"""


def answers(box, pack, pairs, **more):
    """{call: [(answer for what is there, answer for what is not)]}, of each pair of paths."""
    result = box.python(pack, f"home = {box.w!r}\n" + ASK + f"""
print(json.dumps({{call: [[ask(call, path) for path in pair] for pair in {pairs!r}]
                  for call in calls}}))
""", **more)
    return json.loads(result.out), result


def hidden(box):
    """Undeclared objects of every kind, each with a name beside it that is not there."""
    os.symlink("S", box.path("link"))
    os.symlink("gone", box.path("dangling"))
    os.mkfifo(box.path("pipe"))
    box.listen_unix(socket.SOCK_STREAM, box.path("socket"))
    os.chmod(box.path("socket"), 0o777)
    box.file("D/inner", CANARY)
    box.file("program", "#!/bin/sh\n", 0o755)
    paths = [box.path(name) for name in ("S", "D", "link", "dangling", "pipe", "socket", "program",
                                         "D/inner")]
    paths += ["/boot", "/media", "/etc/hostname", "/etc/default", "/etc/passwd-", "/var/lib/dpkg",
              "/var/log", "/home/agent/.bashrc", "/root/.profile", "/sys/class", "/sys/fs/cgroup",
              "/dev/nvme0n1", "/run/lock", "/tmp", PROBES]
    for path in paths:
        check(os.path.lexists(path), f"the test is void: {path} is not there")
    return [(path, path + "-none") for path in paths]


def test_names(box):
    """Whatever call asks for an undeclared name: what is there and what is not answer alike."""
    pairs = hidden(box)
    for name, options, _ in PERSONAS:
        found, result = answers(box, contained(box, name=name), pairs, options=options)
        told = [f"{name}: {call} {pair[0]}: {there}, {none} for {pair[1]}"
                for call, rows in found.items()
                for pair, (there, none) in zip(pairs, rows)
                if there != none or there == "ok"]
        check(not told, "\n".join(told))
        equal(len(found), 31, "calls")
        check(CANARY not in result.out + result.err, "the canary was printed")
        # The same calls tell much where the host's tree is there: so the table can fail.
        found, _ = answers(box, box.usual(name=f"{name}-process"), pairs[:1], options=options)
        told = {call for call, rows in found.items() if rows[0][0] != rows[0][1]}
        check({"access", "statfs", "O_PATH", "mkdir"} <= told, f"process tells only by {told}")
    unchanged(box.s, CANARY + "\n")
    equal(sorted(os.listdir(box.path("D"))), ["inner"], "names")


def test_declared_names(box):
    """The same calls on what is declared work, as far as it is declared."""
    reading = {"access", "access to read", "faccessat2 on the link", "statfs", "O_PATH",
               "O_PATH on the link", "stat", "lstat", "handle"}
    box.file("R/program", "#!/bin/sh\n", 0o755)
    alone = box.file("alone/declared", "x")
    os.symlink("f", box.path("R/link"))
    for name, options, _ in PERSONAS:
        pack = contained(box, read=[alone], programs=[box.path("R/program")], name=name)
        found, result = answers(box, pack, [
            (box.path("R/f"), alone), (box.path("R/d"), "/usr/bin"), (box.path("R/link"),) * 2,
            (box.path("R/program"),) * 2], options=options)
        for call in reading:
            equal(found[call], [["ok"] * 2] * 4, f"{name}: {call}")
        equal(found["read"][0], ["ok"] * 2, "read")
        equal(found["list"][1], ["ok"] * 2, "list")
        equal(found["chdir"][1], ["ok"] * 2, "chdir")
        equal(found["readlink"][2], ["ok"] * 2, "readlink")
        equal(found["program"][3], ["ok"] * 2, "program")
        # Changes are refused: by the policy, or for the ordinary user by the modes.
        for call in ("truncate", "chmod", "unlink", "create", "mkdir"):
            check("ok" not in sum(found[call], []), f"{name}: {call}: {found[call]}")
    equal(sorted(os.listdir(box.r)), ["d", "f", "link", "program"], "names")
    unchanged(alone, "x")


ROOT = {"bin", "dev", "etc", "home", "lib", "lib64", "proc", "root", "run", "sbin", "srv", "sys",
        "usr", "var"}
MAY_BE = {"lib32", "libx32"}


def test_nothing_but_what_is_declared(box):
    """Seen from outside, the run's root holds the base set, what is declared and the decoys;
    nothing of the host's tree can be reached through a mount, descriptor or directory of it."""
    alone = box.file("alone/declared", "x")
    pack = contained(box, read=[alone], programs=["ls"])
    process = start(box, pack, "/bin/sh", "-c",
                    f"ls / > {box.w}/listed; echo > {box.w}/ready; while :; do :; done",
                    cwd=box.dir("here"))
    wait(box.path("W/ready"))
    agent = events_of(process)[0]["pid"]
    with open(f"/proc/{agent}/status", encoding="ascii") as f:
        init = int([line for line in f if line.startswith("PPid:")][0].split()[1])
    root = f"/proc/{agent}/root"
    equal(set(os.listdir(root)) - MAY_BE, ROOT, "names in /")
    equal(set(read(box.path("W/listed")).split()) - MAY_BE, ROOT, "names in / for the agent")
    place = root + box.root
    equal(sorted(os.listdir(place)), ["R", "W", "alone", "here"], "names on the way")
    equal(os.listdir(f"{place}/alone"), ["declared"], "names beside a declared file")
    equal(os.listdir(f"{root}/srv"), ["box"], "names on the way")
    equal(set(os.listdir(f"{root}/dev")),
          {"fd", "full", "kmem", "kmsg", "mem", "null", "port", "ptmx", "pts", "random", "shm", "stderr",
           "stdin", "stdout", "tty", "urandom", "zero"}, "names in /dev")
    equal(os.readlink(f"{root}/bin"), os.readlink("/bin"), "/bin")
    for pid in (agent, init):
        ours = [line.split() for line in read(f"/proc/{pid}/mountinfo").splitlines()]
        for line in ours:
            shown, at, kind = line[3], line[4], line[line.index("-") + 1]
            check(at != "/" or kind == "tmpfs", f"/ is a {kind}")
            check(shown != "/" or at in ("/", "/proc", "/dev/pts", "/dev/shm")
                  or at.startswith("/usr/"),
                  f"{shown} of a filesystem is mounted at {at}")
            check(at == shown or shown == "/" or line[2].startswith("0:"), f"{shown} at {at}")
        for directory in ("root", "cwd"):
            equal(os.stat(f"/proc/{pid}/{directory}").st_dev, os.stat(root).st_dev, directory)
        for fd in os.listdir(f"/proc/{pid}/fd"):
            info = os.stat(f"/proc/{pid}/fd/{fd}")
            check(not stat.S_ISDIR(info.st_mode), f"descriptor {fd} of {pid} is a directory")
    process.terminate()
    process.wait()


def test_decoys(box):
    """A probe of a canary is told as a violation, though the host's object is not there; the same
    object, declared, is the host's."""
    for name, options, home in PERSONAS:
        key = f"{home}/.ssh/id_ed25519"
        # The first two are there on this host, the others are not.
        reads = ["/etc/shadow", "/etc/sudoers", key, f"{home}/.ssh/id_rsa",
                 f"{home}/.aws/credentials", f"{home}/.netrc", f"{home}/.config/gh/hosts.yml",
                 "/root/.ssh/id_rsa", "/var/run/secrets/kubernetes.io/serviceaccount/token",
                 "/etc/kubernetes/admin.conf", "/dev/mem", "/etc/ssh/ssh_host_rsa_key"]
        lists = [f"{home}/.ssh", f"{home}/.gnupg", "/home", "/var/lib/docker", "/sys/fs/bpf"]
        sockets = ["/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock"]
        made = f"{home}/.ssh/authorized_keys2"
        result = box.tries(contained(box, name=name), [
            *((f"read({path!r})", "ENOENT") for path in reads),
            *((f"os.stat({path!r})", "ENOENT") for path in reads),
            *((f"os.listdir({path!r})", "ENOENT") for path in lists),
            *((f"socket.socket(socket.AF_UNIX).connect({path!r})", "ECONNREFUSED")
              for path in sockets),
            *((f"os.stat({path!r})", "ENOENT") for path in sockets),
            (f"os.open({reads[0]!r}, os.O_WRONLY)", "ENOENT"), (f"write({made!r})", "EACCES"),
            (f"read({box.path('R/f')!r})", "ok")], options=options)
        violated(result, *(("fs.read", path) for path in reads + lists + sockets),
                 *(("ipc", path) for path in sockets), ("fs.write", reads[0]), ("fs.write", made))
        check(not os.path.exists(made), "a key was added")
        os.mkdir(os.path.dirname(key), 0o700)
        box.closers.append(lambda key=key: subprocess.run(["rm", "-r", os.path.dirname(key)],
                                                          check=True))
        box.file(key, CANARY)
        subprocess.run(["chown", "-R", name, os.path.dirname(key)], check=True)
        declared = box.tries(contained(box, read=[key], name=f"{name}-declared"), [
            (f"read({key!r}) == {CANARY.encode()!r} or os.stat('/none')", "ok"),
            (f"read({home + '/.ssh/id_rsa'!r})", "ENOENT")], options=options)
        violated(declared, ("fs.read", f"{home}/.ssh/id_rsa"))


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


def test_what_is_missing(box):
    """A declared path that is missing at the start can be made later where its directory is
    declared; elsewhere it grants nothing, which is warned of, and nothing is lost in memory."""
    inside, outside, later = box.path("W/new"), box.path("D/new"), box.path("D/later")
    box.file("D/there", "x")
    pack = contained(box, read=[box.path("D/there"), later, inside, outside],
                     write=[inside, outside])
    for name, options, _ in PERSONAS:
        os.chmod(box.path("D"), 0o777)
        result = box.tries(pack, [
            (f"read({box.path('D/there')!r})", "ok"), (f"write({inside!r})", "ok"),
            (f"os.unlink({inside!r})", "ok"), (f"os.mkdir({inside!r})", "ok"),
            (f"write({inside + '/f'!r})", "ok"), (f"write({outside!r})", "EACCES"),
            (f"read({outside!r})", "ENOENT"), (f"read({later!r})", "ENOENT")], options=options)
        violated(result, ("fs.write", outside))
        warned = [line for line in result.err.splitlines() if "warning" in line and "box" in line]
        for path, words in ((inside, "granted once it is made"), (outside, "it grants nothing"),
                            (later, "it grants nothing")):
            check(any(path in line and words in line for line in warned), f"no warning of {path}")
        unchanged(f"{inside}/f", "x")
        subprocess.run(["rm", "-r", inside], check=True)
        check(not os.path.exists(outside), "it was made")


def test_links_and_directories(box):
    """Links on the way lead where they lead on the host, unless anybody may have made them; a
    directory on the way admits whom it admits on the host."""
    box.file("target/f", "f")
    box.file("closed/f", "f")
    os.symlink("target", box.path("link"))
    os.symlink(box.path("target/f"), box.path("absolute"))
    shared = box.dir("shared")
    os.chmod(shared, 0o1777)
    os.symlink(box.path("D"), f"{shared}/theirs")
    os.lchown(f"{shared}/theirs", 1000, 1000)
    box.file("D/f", CANARY)
    os.chmod(box.path("closed"), 0o700)
    box.file("acl/f", "f")
    os.chmod(box.path("acl"), 0o700)
    subprocess.run(["setfacl", "-m", "u:1000:x", box.path("acl")], check=True)
    paths = [box.path(name) for name in ("link/f", "absolute", "acl/f", "closed/f")]
    pack = contained(box, read=[*paths, f"{shared}/theirs/f"])
    for name, options, _ in PERSONAS:
        result = box.tries(pack, [
            *((f"read({path!r})", "ok") for path in paths[:3]),
            (f"os.readlink({box.path('absolute')!r})", "ok"),
            (f"read({paths[3]!r})", "ok" if name == "root" else "EACCES"),
            (f"os.listdir({box.path('acl')!r})", "ENOENT" if name == "root" else "EACCES"),
            (f"os.lstat({shared + '/theirs'!r})", "ENOENT"),
            (f"read({box.path('D/f')!r})", "ENOENT")], options=options)
        check(f"{shared}/theirs/f leads through a symbolic link" in result.err, result.err)
        violations = [v["requested"] for v in result.violations]
        equal(violations, [box.path("acl")] * (name == "root"), "violations")


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


def test_overlapping_paths(box):
    """A path declared for writing below the base set can be written, and nothing beside it; a
    path declared twice over is what the wider one makes of it."""
    place = "/usr/local/comet-test"
    box.closers.append(lambda: subprocess.run(["rm", "-r", place], check=True))
    os.makedirs(f"{place}/below")
    inner = f"{place}/below"
    os.chown(inner, 1000, 1000)
    for _, options, _ in PERSONAS:
        result = box.tries(contained(box, read=[box.path("R/d")], write=[inner]), [
            (f"write({inner + '/f'!r})", "ok"), (f"os.unlink({inner + '/f'!r})", "ok"),
            (f"write({place + '/f'!r})", "EROFS"), (f"write({inner + '/f'!r})", "ok"),
            (f"os.listdir({box.path('R/d')!r})", "ok"),
            (f"os.rename({box.path('W/ok')!r}, {box.path('W/ok2')!r})", "ok"),
            (f"os.rename({box.path('W/ok2')!r}, {box.path('W/ok')!r})", "ok")], options=options)
        clean(result)
        unchanged(f"{inner}/f", "x")
        os.unlink(f"{inner}/f")
    equal(os.listdir(place), ["below"], "names")


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
