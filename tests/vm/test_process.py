# SPDX-License-Identifier: Apache-2.0
"""Which programs may start, and can a process get out from under its policy?"""
import os
import shutil
import subprocess
import time

from lib import PYTHON, ATTEMPT, CANARY, PROBES, check, clean, equal, limit, unchanged, violated

ACT = f"{PROBES}/act"
NET = f"{PROBES}/net"
ID = "/usr/bin/id"
UNAME = "/usr/bin/uname"
LOADER = "/lib64/ld-linux-x86-64.so.2"
REAL_LOADER = os.path.realpath(LOADER)
CGROUPS = "/sys/fs/cgroup"


def attempt(box, pack, expected, **more):
    """expected: list of (order to the probe, its answer)."""
    result = box.run(pack, ACT, *[what for what, _ in expected], **more)
    equal(list(zip([what for what, _ in expected], result.out.splitlines())), expected, "answers")
    return result


def test_undeclared_programs(box):
    """Only declared programs start, by any of their names; the event names the real file."""
    tries = [f"run {UNAME}", "run /bin/uname", "run /usr/lib/../bin/uname",
             "run /bin/sh /dev/null"]
    clean(attempt(box, box.usual(programs=["uname", "/bin/sh"], name="declared"),
                  [(what, "ok") for what in tries]))
    result = attempt(box, box.usual(), [(what, "EACCES") for what in tries + [f"run {ID}"]])
    violated(result, ("exec", UNAME), ("exec", "/usr/bin/dash"), ("exec", ID))
    equal({v["errno"] for v in result.violations}, {"EACCES"}, "errno")


def test_undeclared_script(box):
    """A script starts if it is declared, and its interpreter with it; else neither does."""
    script = box.file("R/script", "#!/bin/sh\nexit 0\n", 0o755)
    clean(attempt(box, box.usual(programs=[script], name="declared"), [(f"run {script}", "ok")]))
    violated(attempt(box, box.usual(programs=["sh"], name="interpreter"),
                     [(f"run {script}", "EACCES")]), ("exec", script))


def test_program_in_memory(box):
    """A program copied to memory does not start, be it a copy of a declared one."""
    pack = box.usual(programs=["uname"])
    result = attempt(box, pack, [(f"run {UNAME}", "ok"), (f"run-memory {ID}", "EACCES+EACCES"),
                                 (f"run-memory {UNAME}", "EACCES+EACCES")])
    equal(result.code, 3, "exit code")
    equal({v["surface"] for v in result.violations}, {"exec"}, "surface")
    for v in result.violations:
        check("memory-program" in v["requested"], f"the event names {v['requested']}")


def test_program_without_name(box):
    """A program that was opened and then deleted does not start."""
    copy = box.path("W/copy")
    pack = box.usual(programs=["uname"])
    result = attempt(box, pack, [(f"copy {UNAME} {copy}", "ok"), (f"run-deleted {copy}", "EACCES"),
                                 (f"run {UNAME}", "ok")])
    equal(result.code, 3, "exit code")
    equal({v["surface"] for v in result.violations}, {"exec"}, "surface")


def test_loader_started_as_program(box):
    """The dynamic loader does not start an undeclared program, nor the copy of one."""
    pack = box.usual(programs=["uname"])
    copy = box.path("W/loader")
    result = attempt(box, pack, [
        (f"run {UNAME}", "ok"), (f"run {LOADER} {ID}", "EACCES"),
        (f"run {REAL_LOADER} {UNAME}", "EACCES"), (f"copy {LOADER} {copy}", "ok"),
        (f"run {copy} {ID}", "EACCES")])
    violated(result, ("exec", REAL_LOADER), ("exec", copy))


def test_copies_and_links_of_programs(box):
    """A copy or hard link of a program is another program; a symlink leads to the same one."""
    os.link(UNAME, box.path("W/hard"))
    paths = {name: box.path(f"W/{name}") for name in
             ("copy", "other", "soft", "softer", "hard", "harder")}
    result = attempt(box, box.usual(programs=["uname"]), [
        (f"copy {UNAME} {paths['copy']}", "ok"), (f"run {paths['copy']}", "EACCES"),
        (f"copy {ID} {paths['other']}", "ok"), (f"run {paths['other']}", "EACCES"),
        (f"symlink {UNAME} {paths['soft']}", "ok"), (f"run {paths['soft']}", "ok"),
        (f"symlink {ID} {paths['softer']}", "ok"), (f"run {paths['softer']}", "EACCES"),
        (f"run {paths['hard']}", "EACCES"),
        (f"link {ID} {paths['harder']}", "EACCES")])
    violated(result, ("exec", paths["copy"]), ("exec", paths["other"]), ("exec", ID),
             ("exec", paths["hard"]), ("fs.write", ID))
    check(not os.path.exists(paths["harder"]), "the refused link was made")


def test_descendants_end_with_the_run(box):
    """When the command ends, a descendant that has left its parents is dead."""
    beat = box.path("W/beat")
    clean(attempt(box, box.usual(), [(f"daemon {beat}", "ok")]))
    with open(beat, encoding="ascii") as f:
        content = f.read()
    check(content, "the descendant did not start")
    time.sleep(0.2)
    unchanged(beat, content)
    equal(subprocess.run(["fuser", "-s", beat], check=False).returncode, 1, "fuser")


NEST = """
while IFS= read -r line; do case $line in 0::*) cg=/sys/fs/cgroup${line#0::};; esac; done \
    < /proc/self/cgroup
mkdir $cg/a $cg/a/b
echo 0 > $cg/a/b/cgroup.procs && echo moved
stat -c %i $cg/a/b
cat "$1"
"$2" "$3" "$4"
try() { (echo 0 > "$1") 2>/dev/null && echo left || echo held; }
try $cg/../cgroup.procs
try $cg/../cgroup.threads
try /sys/fs/cgroup/beside/cgroup.procs
try $cg/a/cgroup.procs
try $cg/cgroup.procs
"""


def test_child_cgroups_are_held(box):
    """Child cgroups made by the agent are held like the run's own; nobody leaves them."""
    a, x = box.listen(), box.listen(address="127.0.0.2")
    pack = box.usual(write=[CGROUPS], egress=[(a.address, a.port, "http")],
                     programs=["mkdir", "stat", "cat", NET])
    os.mkdir(f"{CGROUPS}/beside")
    result = box.run(pack, "/bin/sh", "-c", NEST, "nest", box.s, NET,
                     f"tcp {a.address} {a.port}", f"tcp {x.address} {x.port}")
    os.rmdir(f"{CGROUPS}/beside")
    words = result.out.split()
    equal(words[:1] + words[2:], ["moved", "ok", "ECONNREFUSED", "held", "held", "held", "left",
                                  "left"], "answers")
    violated(result, ("fs.read", box.s), ("egress", f"{x.address}:{x.port}/tcp"),
             ("kernel", f"{CGROUPS}/cgroup.procs"), ("kernel", f"{CGROUPS}/cgroup.threads"),
             ("kernel", f"{CGROUPS}/beside/cgroup.procs"))
    for v in result.violations:
        if v["surface"] != "kernel":
            equal(v["cgroup"], int(words[1]), "the event's cgroup")
            equal(v["pack"], "soya:box@1.0.0", "the event's pack")
    equal(x.settled(), [], "what arrived at X")
    started = next(e for e in result.events if e["kind"] == "run_started")
    check(not os.path.exists(started["cgroup"]), "the run's cgroup is left behind")


def test_clone_into_cgroup(box):
    """clone3 does not put a child into another cgroup."""
    elsewhere = f"{CGROUPS}/elsewhere"
    os.makedirs(elsewhere, exist_ok=True)
    box.closers.append(lambda: os.rmdir(elsewhere))
    order = f"clone-into {elsewhere}"
    outside = subprocess.run([ACT, order], capture_output=True, text=True, check=True)
    equal(outside.stdout, "ok\n", "outside of a run")
    result = attempt(box, box.usual(read=[CGROUPS]),
                     [(order, "EPERM"), ("privileges", "uid-0-nnp-1")])
    violated(result, ("kernel", "clone_into_cgroup"))
    # In audit mode too: a process that left would be out of sight.
    result = attempt(box, box.usual(read=[CGROUPS]), [(order, "EPERM"), (f"read {box.s}", CANARY)],
                     options=["--audit"])
    equal([v["surface"] for v in result.violations], ["kernel", "fs.read"], "events")


NEW_MOUNTS, NEW_CGROUP, NEW_USER, NEW_PIDS, NEW_NET = (
    0x20000, 0x2000000, 0x10000000, 0x20000000, 0x40000000)


def test_mounts_and_namespaces(box):
    """No mount and no namespace after the start, for root and for an ordinary user."""
    target = box.dir("W/m")
    tries = [(f"bind {box.root} {target}", "EPERM"), (f"bind-tree {box.root} {target}", "EPERM"),
             (f"tmpfs {target}", "EPERM"), ("fsopen tmpfs", "EPERM"),
             (f"remount {target}", "EPERM"), ("umount /proc", "EPERM"),
             (f"pivot {target}", "EPERM"), (f"chroot {target}", "EPERM")]
    tries += [(f"unshare {flag}", "EPERM+EPERM") for flag in (
        NEW_MOUNTS, NEW_CGROUP, NEW_USER, NEW_USER | NEW_MOUNTS, NEW_PIDS, NEW_NET)]
    tries += [(f"read {target}/S", "ENOENT"), (f"read {box.path('W/ok')}", "fine")]
    for user in "root", "agent":
        result = attempt(box, box.usual(), tries, options=["--user", user])
        violated(result, ("kernel", "mount"), ("kernel", "userns"))
        check(CANARY not in result.out, "the canary was read")


def test_no_new_privileges(box):
    """A setuid program gives the agent no rights of its owner."""
    copy = box.path("setuid")
    shutil.copy(ACT, copy)
    os.chmod(copy, 0o4755)
    outside = subprocess.run([copy, "privileges"], user=1000, group=1000, extra_groups=[],
                             capture_output=True, text=True, check=True)
    equal(outside.stdout, "uid-0-nnp-0\n", "outside of a run")
    for user, uid in ("agent", 1000), ("root", 0):
        result = box.run(box.usual(), copy, "privileges", options=["--user", user])
        equal(result.out, f"uid-{uid}-nnp-1\n", "inside")
        clean(result)


@limit(900)
def test_first_calls(box):
    """A program whose very first calls are an undeclared open and connect is refused each time."""
    x = box.listen(address="127.0.0.2", port=4)
    pack = box.usual()
    for _ in range(200):
        result = box.run(pack, f"{PROBES}/first")
        equal(result.out, "ENOENT+ECONNREFUSED\n", "answers")
        violated(result, ("fs.read", "/etc/shadow"), ("egress", f"{x.address}:4/tcp"))
    equal(x.settled(), [], "what arrived at X")
    pack = box.usual(read=["/etc/shadow"], egress=[(x.address, 4, "http")], name="granted")
    result = box.run(pack, f"{PROBES}/first")
    equal(result.out, "ok+ok\n", "answers")
    clean(result)


def test_programs_that_the_agent_may_change(box):
    """An exec entry in a place of fs.write grants nothing, whatever an earlier run left there;
    the same program elsewhere starts."""
    os.symlink(ID, box.path("W/tool"))
    script = box.file("W/script", f"#!{ID}\n", 0o755)
    good = box.path("R/tool")
    shutil.copy(ID, good)
    pack = box.usual(programs=[box.path("W/tool"), script, good])
    result = attempt(box, pack, [
        (f"run {box.path('W/tool')}", "EACCES"), (f"run {script}", "EACCES"),
        (f"run {ID}", "EACCES"), (f"run {good}", "ok")])
    equal(result.code, 3, "exit code")
    equal(result.err.count("fs.write lets the agent change it"), 2, "warnings")
    linked = box.run(pack, box.path("W/tool"))
    check(linked.code == 126 and "through a link" in linked.err, "a planted link is not started")


def test_keys_of_the_host(box):
    """The kernel's keyrings are the same for a user inside and outside: no call reaches them."""
    code = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
USER, KEY, OF_USER, OF_SESSION = b"user", b"comet-test", -4, -3
def call(number, *words):
    r = libc.syscall(number, *words)
    print("ok" if r >= 0 else errno.errorcode[ctypes.get_errno()])
call(248, USER, KEY, b"secret", 6, OF_USER)     # add_key
call(249, USER, KEY, None, 0)                   # request_key
call(250, 0, OF_USER, 1)                        # KEYCTL_GET_KEYRING_ID
call(250, 11, OF_USER, None, 0)                 # KEYCTL_READ
call(250, 6, OF_SESSION, None, 0)               # KEYCTL_DESCRIBE
call(250, 1, b"comet-session")                  # KEYCTL_JOIN_SESSION_KEYRING
call(250, 7, OF_USER)                           # KEYCTL_CLEAR
"""
    outside = [PYTHON, "-c", ATTEMPT + code]
    equal(subprocess.run(outside, capture_output=True, text=True, check=True).stdout.split(),
          ["ok"] * 7, "outside")
    result = box.python(box.usual(), code)
    check(set(result.out.split()) <= {"EPERM", "ENOKEY"}, f"inside: {result.out}")
    violated(result, ("kernel", "key"))


def test_typing_into_the_terminal(box):
    """TIOCSTI would put commands before the operator's shell, which reads them after the run."""
    result = box.python(box.usual(), """
import fcntl, pty, termios
ours, theirs = os.pipe(), None
attempt(fcntl.ioctl, 0, termios.TIOCSTI, b"x")
attempt(fcntl.ioctl, 0, 0x541C, b"\\x02x")
attempt(fcntl.ioctl, ours[0], termios.FIONREAD, b"1234")
""", stdin=subprocess.DEVNULL)
    equal(result.out.split(), ["EPERM", "EPERM", "ok"], "TIOCSTI, TIOCLINUX, FIONREAD")
    violated(result, ("kernel", "/dev/null"))
