# SPDX-License-Identifier: Apache-2.0
"""Does a rule on a directory depend on what is in it?"""
import subprocess

from lib import CANARY, check, equal, limit, meanwhile, violated, wait

FILES = 50000


def start_up(box, pack):
    """How many system calls a run needs; unlike its time, the same on a busy machine."""
    counts = box.path("counts")
    subprocess.run(["strace", "-f", "-c", "-o", counts, "comet", "run", pack, "--", "/bin/true"],
                   check=True, stdin=subprocess.DEVNULL)
    with open(counts, encoding="ascii") as f:
        return int(f.read().splitlines()[-1].split()[3])


@limit(400)
def test_many_files(box):
    """Thousands of files made after the start are in a rule at once; the start takes as ever."""
    pack = box.usual()
    empty = start_up(box, pack)

    def neighbour():
        wait(box.path("W/f99"))
        box.file("neighbour", CANARY)
        box.file("W/made-outside")

    with meanwhile(neighbour):
        result = box.python(pack, f"""
os.chdir({box.w!r})
for i in range({FILES}):
    os.close(os.open(f"f{{i}}", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    os.close(os.open(f"f{{i}}", os.O_RDONLY))
wait("made-outside")
attempt(read, "made-outside")
attempt(read, "../neighbour")
""", timeout=300)
    equal(result.out.split(), ["ok", "ENOENT"])
    violated(result, ("fs.read", box.path("neighbour")))
    full = start_up(box, pack)
    check(abs(full - empty) < FILES / 10,
          f"a run makes {full} system calls with {FILES} files in W, {empty} with one")
