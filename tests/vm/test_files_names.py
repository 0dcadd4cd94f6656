# SPDX-License-Identifier: Apache-2.0
"""Which file does a name mean that looks like another's, or that is another's to a filesystem?"""
import os
import subprocess
import unicodedata

from lib import CANARY, check, clean, equal, violated
from test_files_mounts import mount


def test_names_that_look_alike(box):
    """Letters that look like a slash or a dot are letters; composed and decomposed forms are two
    names."""
    composed = unicodedata.normalize("NFC", "é")
    decomposed = unicodedata.normalize("NFD", "é")
    odd = [f"..{slash}S" for slash in "\uff0f\u2215\u2044"] + ["\uff0e\uff0e", "\u2025", composed,
                                                              decomposed]
    result = box.tries(box.usual(), [
        (f"{call}({name!r})", "ok") for name in odd for call in ("write", "read", "os.stat")],
        before=f"os.chdir({box.w!r})\n")
    clean(result)
    equal(sorted(os.listdir(box.w)), sorted([*odd, "ok"]), "names in W")
    names = [box.file(f"D/{name}", CANARY) for name in (composed, decomposed)]
    for declared, other in names, names[::-1]:
        result = box.tries(box.pack(read=[declared]), [(f"read({declared!r})", "ok"),
                                                       (f"read({other!r})", "ENOENT")])
        violated(result, ("fs.read", other))


SPELLINGS = ("Secret", "secret", "SECRET", "sEcReT")


def try_spellings(box, top):
    """top ignores case and holds Secret/f, Secret.txt, Data and Data.d/f."""
    answers = [(f"{call}({top + '/' + name.format(word)!r})", answer)
               for word in SPELLINGS for name in ("{}/f", "{}.txt")
               for call, answer in (("read", "ENOENT"), ("os.stat", "ENOENT"), ("write", "EACCES"))]
    pack = box.usual(read=[f"{top}/Data", f"{top}/Data.d"], write=[f"{top}/Data", f"{top}/Data.d"])
    result = box.tries(pack, answers + [
        (f"read({top + '/Data'!r})", "ok"), (f"write({top + '/Data'!r})", "ok"),
        (f"read({top + '/DATA.D/F'!r})", "ok"), (f"write({top + '/data.d/new'!r})", "ok"),
        (f"read({top + '/Data.D/NEW'!r})", "ok"), (f"os.listdir({top!r})", "ENOENT")])
    equal(result.code, 3, "exit code")
    check(CANARY not in result.out + result.err, "the canary was printed")
    found = {v["requested"].lower() for v in result.violations}
    equal(found, {top.lower(), *(f"{top}/{name}".lower() for name in ("secret/f", "secret.txt"))},
          "what the events name, but for its case")
    # The name of a single file, in another spelling: refused or not, the same for both.
    other = box.python(pack, f"""
attempt(read, {top + "/DATA"!r})
attempt(write, {top + "/DATA"!r})
attempt(write, {top + "/Data"!r})
""")
    check(other.out in ("ok\nok\nok\n", "ENOENT\nEACCES\nok\n"), f"in capitals: {other.out}")


def fill(top):
    for name in "Secret", "Data.d":
        os.mkdir(f"{top}/{name}")
    for name in "Secret/f", "Secret.txt", "Data", "Data.d/f":
        with open(f"{top}/{name}", "w", encoding="ascii") as f:
            f.write(CANARY)


def forget():
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as f:
        f.write("2")


def test_directory_without_case(box):
    """Where ext4 ignores case every spelling of an undeclared name is refused."""
    subprocess.run(["modprobe", "loop"], check=True)
    image = box.path("image")
    with open(image, "wb") as f:
        f.truncate(16 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-O", "casefold", image], check=True)
    top = mount(box, "ext4", "-o", "loop", image)
    os.mkdir(f"{top}/dir")
    subprocess.run(["chattr", "+F", f"{top}/dir"], check=True)
    fill(f"{top}/dir")
    check(os.path.exists(f"{top}/dir/SECRET.TXT"), "the test is void: case matters")
    forget()
    try_spellings(box, f"{top}/dir")


def test_vfat(box):
    """The same on vfat, which has also short names for long ones."""
    for module in "loop", "vfat":
        subprocess.run(["modprobe", module], check=True)
    image = box.path("image")
    with open(image, "wb") as f:
        f.truncate(4 << 20)
    subprocess.run(["mkfs.vfat", image], check=True, stdout=subprocess.DEVNULL)
    top = mount(box, "vfat", "-o", "loop", image)
    fill(top)
    long = f"{top}/Secret with a long name"
    with open(long, "w", encoding="ascii") as f:
        f.write(CANARY)
    check(os.path.exists(f"{top}/SECRET~1"), "the test is void: there is no short name")
    forget()
    result = box.tries(box.usual(), [(f"read({top + '/SECRET~1'!r})", "ENOENT"),
                                     (f"read({long!r})", "ENOENT")])
    equal({v["surface"] for v in result.violations}, {"fs.read"}, "surfaces")
    try_spellings(box, top)
