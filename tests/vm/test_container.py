# SPDX-License-Identifier: Apache-2.0
"""Does a run under isolation container see what is declared, and no name besides?"""
import json
import os
import socket
import stat
import subprocess

from container import PERSONAS, contained
from lib import CANARY, PROBES, check, clean, equal, unchanged, violated, wait
from life import events_of, read, start


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
