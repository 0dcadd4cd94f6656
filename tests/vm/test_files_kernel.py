# SPDX-License-Identifier: Apache-2.0
"""Does fs.write on a directory stop at the files of the kernel's own filesystems?"""
import os

from lib import clean, equal, violated

# What is written there acts on the whole host; the value is what stands there already.
KERNEL_FILES = [
    "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/swappiness",
    "/proc/sysrq-trigger", "/sys/kernel/mm/transparent_hugepage/enabled",
]

OPEN = """
import os
def write(path):
    os.close(os.open(path, os.O_WRONLY))
def read(path):
    open(path).read(1)
def own():
    open("/proc/self/comm", "w").write("changed")
    assert open("/proc/self/comm").read() == "changed\\n"
def swap(value):
    open("/proc/sys/vm/swappiness", "w").write(value)
"""


def swappiness():
    with open("/proc/sys/vm/swappiness", encoding="ascii") as f:
        return f.read().strip()


def test_files_that_act_on_the_kernel(box):
    """Not even fs.write: ["/"] opens them for writing, but for the entry that names one."""
    before = swappiness()
    other = str(int(before) + 1)
    everything = box.pack(name="all", read=["/"], write=["/"], programs=["python3"])
    ways = [(f"write({path!r})", "EACCES") for path in KERNEL_FILES]
    ways += [("write('/sys/fs/cgroup/cgroup.subtree_control')", "EACCES"),
             ("read('/proc/sys/vm/swappiness')", "ok"), ("own()", "ok"),
             ("os.mkdir('/sys/fs/cgroup/made')", "EACCES")]
    violated(box.tries(everything, ways, OPEN), *[("fs.write", path) for path in KERNEL_FILES],
             ("kernel", "/sys/fs/cgroup/cgroup.subtree_control"),
             ("fs.write", "/sys/fs/cgroup/made"))
    equal(os.path.exists("/sys/fs/cgroup/made"), False, "a cgroup is made")
    equal(swappiness(), before, "swappiness")
    named = box.pack(name="named", read=["/"], write=["/proc/sys/vm/swappiness"],
                     programs=["python3"])
    clean(box.tries(named, [(f"swap({other!r})", "ok")], OPEN))
    equal(swappiness(), other, "swappiness")
