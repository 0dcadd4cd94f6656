# SPDX-License-Identifier: Apache-2.0
"""Do files stay closed that other processes have open, read from, or are?"""
import os
import subprocess
import threading
import time

from lib import CANARY, PYTHON, check, equal, unchanged, violated
from test_files_root import tries_beside


def process(box, *command, **more):
    running = subprocess.Popen(command, **more)
    box.closers.append(lambda: (running.kill(), running.wait()))
    return running


def test_processes_outside(box):
    """/proc shows nothing of comet, nor of any process outside: no environment, no memory, no
    descriptors."""
    secret = {"SECRET": CANARY, "PATH": os.environ["PATH"]}
    outside = process(box, "/bin/sleep", "600", env=secret).pid
    files = ("environ", "cmdline", "status", "maps", "mem", "fd", "fd/0", "cwd", "root/etc/hosts")
    code = f"""
ancestors = [os.getppid()]
for pid in [*ancestors, 1, {outside}, {os.getpid()}]:
    for name in {files!r}:
        attempt(read if name != "fd" else os.listdir, f"/proc/{{pid}}/{{name}}")
print({CANARY[::-1]!r}[::-1] in repr(read("/proc/self/environ")))
"""
    for user in "root", "agent":
        result = box.python(box.usual(), code, env=secret,
                            options=["--user", user, "--clear-env"])
        equal(result.out.split(), ["ENOENT"] * 4 * len(files) + ["False"], "answers")
        check(CANARY not in result.out + result.err, "the canary was printed")


def test_memory_of_others(box):
    """Whatever the manifest says, it does not reach the memory of a process outside, nor reading
    its files."""
    outside = process(box, "/bin/sleep", "600", env={"SECRET": CANARY}).pid
    everything = box.pack(read=["/"], write=["/"], name="everything")
    names = [f"/proc/{outside}/{name}" for name in ("mem", "environ", "maps")]
    named = box.usual(read=names, write=names, name="named")
    hidden = {("fs.read", name) for name in names}
    for pack, answer, own, told in (
            (everything, "EACCES", "ok", {("ipc", f"pid {outside}")}),
            (named, "ENOENT", "ENOENT", hidden), (box.usual(), "ENOENT", "ENOENT", hidden)):
        result = tries_beside(box, pack, [
            (f"os.open({names[0]!r}, os.O_RDWR)", answer),
            *((f"read({name!r})", answer) for name in names),
            ("read('/proc/self/maps')", own), ("os.open('/proc/self/mem', os.O_RDWR)", own)])
        equal(result.code, 3, "exit code")
        found = {(v["surface"], v["requested"]) for v in result.violations}
        check(told <= found, f"no event of {told - found}")


PIDFD = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def get(pid, fd):
    found = libc.syscall(438, os.pidfd_open(pid), fd, 0)
    if found < 0:
        raise OSError(ctypes.get_errno(), "")
    print(os.pread(found, 99, 0), file=sys.stderr)
"""


def test_descriptors_of_others(box):
    """pidfd_getfd takes no descriptor out of a process outside, and works inside."""
    holder = process(box, PYTHON, "-c", f"""
import os, time
os.dup2(os.open({box.s!r}, os.O_RDONLY), 9)
open({box.path('held')!r}, "w")
time.sleep(600)
""")
    while not os.path.exists(box.path("held")):
        time.sleep(0.05)
    result = tries_beside(box, box.usual(), [(f"get({holder.pid}, 9)", "EPERM")], before=PIDFD)
    violated(result, ("ipc", f"pid {holder.pid}"))
    inside = box.tries(box.usual(), [("get(child, 9)", "ok"), (f"get({holder.pid}, 9)", "ESRCH")],
                       before=PIDFD + f"""
child = os.fork()
if not child:
    os.dup2(os.open({box.path('R/f')!r}, os.O_RDONLY), 9)
    time.sleep(60)
while not os.path.exists(f"/proc/{{child}}/fd/9"):
    time.sleep(0.01)
""")
    check("read me" in inside.err, "the descriptor was not read")


def test_pipes_and_devices(box):
    """What is written to a FIFO or a device that is not declared reaches nobody."""
    got = []
    places = box.dir("D"), box.w
    for place in places:
        os.mkfifo(f"{place}/fifo")

    def read():
        fds = [os.open(f"{place}/fifo", os.O_RDONLY | os.O_NONBLOCK) for place in places]
        time.sleep(5)
        got.extend(os.read(fd, 99) for fd in fds)

    reader = threading.Thread(target=read)
    reader.start()
    subprocess.run(["modprobe", "loop"], check=True)
    device = box.path("W/dev")
    result = box.tries(box.usual(), [
        (f"put({places[0] + '/fifo'!r})", "ENOENT"), (f"put({places[1] + '/fifo'!r})", "ok"),
        ("os.open('/dev/loop0', os.O_WRONLY)", "ENOENT"),
        ("os.open('/dev/loop0', os.O_RDONLY)", "ENOENT"),
        (f"os.mknod({device!r}, 0o60600, os.makedev(7, 0))", "EPERM"),
        (f"os.open({device!r}, os.O_RDONLY)", "ENOENT")], before="""
def put(name):
    os.write(os.open(name, os.O_WRONLY | os.O_NONBLOCK), b"x")
""")
    reader.join()
    equal(got, [b"", b"x"], "what the readers got")
    check(not os.path.lexists(device), "the device was made")
    violated(result, ("fs.write", f"{places[0]}/fifo"), ("fs.write", "/dev/loop0"),
             ("fs.read", "/dev/loop0"), ("kernel", device))


def test_mounts_by_unshare(box):
    """unshare -Urm makes no other place for a file of another directory."""
    box.dir("W/m")
    box.file("D/canary", CANARY)
    script = f"mount --bind {box.path('D')} {box.path('W/m')}; cat {box.path('W/m/canary')}"
    pack = box.usual(programs=["sh", "mount", "cat"])
    for user in "root", "agent":
        outside = subprocess.run(["unshare", "-Urm", "sh", "-c", script], capture_output=True,
                                 text=True, check=False)
        equal(outside.stdout, CANARY, "outside of a run")
        result = box.run(pack, "unshare", "-Urm", "sh", "-c", script, options=["--user", user])
        check(result.out == "" and CANARY not in result.err, "the canary was printed")
        violated(result, ("kernel", "userns"))


def test_answers_take_their_time(box):
    """How long the answer takes does not tell an undeclared name from one that is not there."""
    result = box.python(box.usual(), f"""
def least(name):
    best = 1.0
    for i in range(3000):
        start = time.perf_counter()
        try:
            os.stat(name)
        except OSError:
            pass
        best = min(best, time.perf_counter() - start)
    return best
times = [least({box.s!r}), least({box.path("none")!r})]
print(max(times) / min(times))
""")
    check(float(result.out) < 4, f"one takes {result.out.strip()} times as long as the other")
    unchanged(box.s, CANARY + "\n")
