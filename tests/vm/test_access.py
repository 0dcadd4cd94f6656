# SPDX-License-Identifier: Apache-2.0
"""Do access(2) and open(2) agree, and does a program end that trusts the one and asks the other?"""
from lib import CANARY, PYTHON, check, equal, violated

# What access(2) says and what open(2) does, for reading and for writing.
LOCK = """
import errno, os, sys, time
# As pyenv does: while the file cannot be made, though access(2) does not say why not, try again.
def rehash(path):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            os.close(fd)
            os.unlink(path)
            return "ok"
        except FileExistsError:
            time.sleep(0.1)
        except OSError as e:
            return errno.errorcode[e.errno]
    return "late"
def one(path, mode, flags):
    try:
        os.close(os.open(path, flags))
        return int(os.access(path, mode)), 1
    except OSError as e:
        return int(os.access(path, mode)), errno.errorcode[e.errno]
for path in sys.argv[1:]:
    print(*one(path, os.R_OK, os.O_RDONLY), *one(path, os.W_OK, os.O_WRONLY))
start = time.monotonic()
print(*[rehash(os.path.dirname(path) + "/lock") for path in sys.argv[1:]])
print(time.monotonic() - start < 5)
"""


def test_without_a_container(box):
    """access(2) looks at file modes alone, as the manual says; nobody tries for ever for it."""
    paths = [box.path("W/ok"), box.path("R/f"), box.s]
    result = box.run(box.usual(), PYTHON, "-c", LOCK, *paths)
    # For root these allow everything.
    equal(result.out.splitlines(), ["1 1 1 1", "1 1 1 EACCES", "1 ENOENT 1 ENOENT",
                                    "ok EACCES EACCES", "True"], "answers")
    violated(result, ("fs.write", box.path("R/f")), ("fs.read", box.s), ("fs.write", box.s),
             ("fs.write", box.path("R/lock")), ("fs.write", box.path("lock")))
    check(CANARY not in result.out, "the canary was read")
