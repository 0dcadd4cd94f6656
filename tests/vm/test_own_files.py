# SPDX-License-Identifier: Apache-2.0
"""Do Comet's own files stay out of an agent's reach, even where a manifest declares all of /run?"""
import os
import subprocess

from lib import clean, check, equal, meanwhile, unchanged, violated, wait

OWN = "/run/comet"
ID = "run_01ARZ3NDEKTSV4RRFFQ69G5FAV"  # of a run that never was

AGENT = """
import fcntl
print(os.listdir("/run/comet"), flush=True)
attempt(os.open, "/run/comet/lock", os.O_RDONLY)
attempt(write, "/run/comet/mine")
attempt(write, "/run/mine")
attempt(os.rename, "/run/comet", "/run/moved")
open(sys.argv[1], "w").close()
wait(sys.argv[2])
"""


def test_records_and_lock(box):
    """Root inside that may write all of /run finds an empty /run/comet: it reads no record, makes
    none, and holds no lock that another run waits for."""
    ready, go = box.path("W/ready"), box.path("W/go")
    before = set(os.listdir(OWN)) if os.path.exists(OWN) else set()

    def another_run():
        wait(ready)
        clean(box.run(box.pack(name="other"), "/bin/true"))
        check("mine" not in os.listdir(OWN), "the agent's file is in the host's directory")
        box.file("W/go")

    with meanwhile(another_run):
        result = box.python(box.usual(read=["/run"], write=["/run"]), AGENT, ready, go,
                            options=("--user", "0"))
    clean(result)
    equal(result.out.splitlines(), ["[]", "ENOENT", "ok", "ok", "EBUSY"], "answers")
    check(os.path.exists("/run/mine"), "what is declared was not written")
    os.unlink("/run/mine")
    check(not os.path.exists("/run/moved"), "Comet's directory was moved")
    check(set(os.listdir(OWN)) <= before | {"lock"}, f"left behind: {os.listdir(OWN)}")


def test_records_without_a_manifest_for_them(box):
    """Without such a manifest the directory is as undeclared as any."""
    violated(box.tries(box.usual(), [("os.listdir('/run/comet')", "ENOENT"),
                                     ("read('/run/comet/lock')", "ENOENT"),
                                     ("read(" + repr(box.w + "/ok") + ")", "ok")]),
             ("fs.read", OWN))


def test_record_that_names_no_cgroup(box):
    """A record that leads to a directory which only looks like a cgroup is forgotten: nobody whom
    that lists is killed, nothing to which its links lead is written."""
    victim = box.file("victim", "precious\n")
    fake = box.path(f"W/comet-{ID}")
    record = os.path.join(OWN, ID)
    bystander = subprocess.Popen(["/bin/sleep", "1000"])
    box.closers.append(bystander.kill)
    for name, text in [("events", "populated 1\n"), ("procs", f"{bystander.pid}\n")]:
        box.file(f"{fake}/cgroup.{name}", text)
    kill = f"{fake}/cgroup.kill"
    os.symlink(victim, kill)
    for link in True, False:
        if not link:
            os.unlink(kill)
        box.file(record, fake)
        clean(box.run(box.usual(), "/bin/true"))
        unchanged(victim, "precious\n")
        equal(bystander.poll(), None, "the bystander's exit code")
        check(os.path.isdir(fake), "the directory is gone")
        check(not os.path.exists(record), "the record is still there")
