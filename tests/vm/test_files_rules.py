# SPDX-License-Identifier: Apache-2.0
"""Which objects does a path in a manifest mean, and which not?"""
import itertools
import os
import shutil
import subprocess

from lib import CANARY, PYTHON, check, clean, equal, meanwhile, unchanged, violated, wait


def test_similar_names(box):
    """A declared directory grants nothing in directories whose names start alike."""
    beside = ["W-evil", "W.bak", "Wx", "W2", "W ", "w", "WW"]
    answers, expected = [("read('ok')", "ok"), ("write('ok')", "ok")], []
    for name in beside:
        path = box.file(f"{name}/ok", CANARY)
        new = box.path(f"{name}/new")
        answers += [(f"read({path!r})", "ENOENT"), (f"write({path!r})", "EACCES"),
                    (f"write({new!r})", "EACCES")]
        expected += [("fs.read", path), ("fs.write", path), ("fs.write", new)]
    answers += [(f"read({box.path('W2/../S')!r})", "ENOENT"),
                (f"read({box.path('W2/../W/ok')!r})", "ok")]
    result = box.tries(box.usual(), answers, before=f"os.chdir({box.w!r})\n")
    check(CANARY not in result.out, "the canary was printed")
    violated(result, ("fs.read", box.s), *expected)
    equal([os.listdir(box.path(name)) for name in beside], [["ok"]] * len(beside), "names there")


def test_each_rule(box):
    """Every rule of a long manifest is in force: it grants its own object, not the neighbour."""
    readable, writable, answers, expected = [], [], [], []
    for depth in range(1, 11):
        top = f"/comet-test-{depth}"
        box.closers.append(lambda top=top: shutil.rmtree(top))
        own = os.path.join(top, *map(str, range(2, depth + 1)))
        next_to = os.path.join(os.path.dirname(own), os.path.basename(own) + "x")
        if depth == 1:
            box.closers.append(lambda path=next_to: shutil.rmtree(path))
        for place in (own, next_to):
            box.file(f"{place}/f", CANARY)
        readable.append(own)
        answers += [(f"read({own + '/f'!r})", "ok"), (f"read({next_to + '/f'!r})", "ENOENT")]
        expected.append(("fs.read", next_to + "/f"))
        if depth % 2:
            writable.append(own)
            answers.append((f"write({own + '/f'!r})", "ok"))
        else:
            answers.append((f"write({own + '/f'!r})", "EACCES"))
            expected.append(("fs.write", own + "/f"))
    for depth in range(1, 6):
        own, next_to = (box.file("/".join(["files", *"abcd"[:depth - 1], name]), CANARY)
                        for name in (f"f{depth}", f"g{depth}"))
        readable.append(own)
        answers += [(f"read({own!r})", "ok"), (f"read({next_to!r})", "ENOENT")]
        expected.append(("fs.read", next_to))
    violated(box.tries(box.pack(read=readable, write=writable), answers), *expected)


def test_replaced_file(box):
    """A rule on a file holds for whatever file has that name, however often it is replaced."""
    place = box.dir("D")
    name = box.file("D/F", "0")

    def replace():
        for i in range(1, 11):
            with open(f"{place}/temporary", "w", encoding="ascii") as f:
                f.write(str(i))
            os.replace(f"{place}/temporary", name)
            wait(box.path(f"W/seen-{i}"))

    with meanwhile(replace):
        result = box.python(box.usual(read=[name]), f"""
for i in range(1, 11):
    while (text := read({name!r})) != b"%d" % i:
        assert text == b"%d" % (i - 1), text
    write("{box.w}/seen-%d" % i)
""")
    clean(result)
    os.rename(name, f"{place}/former")
    box.file("D/F", "new")
    result = box.tries(box.usual(read=[name]), [
        (f"read({place + '/former'!r})", "ENOENT"), (f"read({name!r})", "ok")])
    violated(result, ("fs.read", f"{place}/former"))


def test_replaced_without_pause(box):
    """No read, stat or open of a declared file fails in the moment in which it is replaced."""
    place = box.dir("D")
    name = box.file("D/F", "x")
    replacing = subprocess.Popen([PYTHON, "-c", f"""
import os
while True:
    with open({place + '/temporary'!r}, "w") as f:
        f.write("x")
    os.replace({place + '/temporary'!r}, {name!r})
"""])
    box.closers.append(lambda: (replacing.kill(), replacing.wait()))
    result = box.python(box.usual(read=[name]), f"""
end = time.monotonic() + 5
while time.monotonic() < end:
    for i in range(100):
        with open({name!r}, "rb") as f:
            os.fstat(f.fileno())
            assert f.read() == b"x"
        os.stat({name!r})
""")
    clean(result)


def test_names_made_later(box):
    """A declared name that is not there at the start is granted once it is made, as what it is."""
    place = box.dir("D")
    file, folder, own, other = (f"{place}/{name}" for name in ("file", "folder", "own", "other"))

    def make():
        wait(box.path("W/started"))
        for name in (file, other, f"{folder}/sub/inner"):
            box.file(name, CANARY)
        box.file("W/made")

    with meanwhile(make):
        result = box.tries(box.usual(read=[file, folder], write=[own]), [
            (f"read({file!r})", "ENOENT"), (f"os.listdir({folder!r})", "ENOENT"),
            (f"write({box.path('W/started')!r}) or wait({box.path('W/made')!r})", "ok"),
            (f"read({file!r})", "ok"), (f"read({folder + '/sub/inner'!r})", "ok"),
            (f"os.listdir({folder!r})", "ok"), (f"write({folder + '/new'!r})", "EACCES"),
            (f"read({other!r})", "ENOENT"), (f"write({own!r})", "ok"),
            (f"os.unlink({own!r})", "ok"), (f"os.mkdir({own!r})", "ok"),
            (f"write({own + '/new'!r})", "ok"), (f"write({own + '2'!r})", "EACCES")])
    unchanged(f"{own}/new", "x")
    violated(result, ("fs.read", other), ("fs.write", f"{folder}/new"), ("fs.write", own + "2"))
    check("does not exist" in result.err, "the start must warn of names that are not there")


def test_long_paths(box):
    """Long names and long paths are judged like short ones, and told whole."""
    depth = (4000 - len(box.root)) // 251
    tail = "/".join("abcdefghijklmnopqrstuvwxyz"[i] * 250 for i in range(depth))
    answers, expected = [], []
    for length in (1, 2, depth):
        below = tail[:length * 251 - 1]
        inside = box.path(f"W/{below}") + "x"
        outside = box.path(f"V/{below}") + "x"
        for path in (inside, outside):
            # Beyond what fits a system call with the root in front.
            os.makedirs(os.path.dirname(path), exist_ok=True)
            box.file(path, CANARY)
        answers += [(f"read({inside!r})", "ok"), (f"write({inside!r})", "ok"),
                    (f"read({outside!r})", "ENOENT"), (f"write({outside!r})", "EACCES")]
        expected += [("fs.read", outside), ("fs.write", outside)]
    violated(box.tries(box.usual(), answers), *expected)


def test_long_names(box):
    """A rule on a single file compares the whole name, whatever its length."""
    place = box.dir("D")
    lengths = (1, 39, 40, 41, 42, 79, 80, 81, 119, 120, 121, 160, 200, 239, 240, 241, 254, 255)
    declared = {"n" * n for n in lengths}
    # Long names that share some 40-byte pieces and differ in others.
    a, b, c, d = ("a" * 40, "b" * 40, "c" * 40, "d" * 40)
    declared |= {a + b, c + d, a + b + c, a + c + c, d * 6, "é" * 127}
    others = {a + d, c + b, a, b, a + b + d, c + b + c, d * 5, d * 5 + "x" * 40,
              d * 2 + "x" * 40 + d * 3, "x" * 40 + d * 5, "é" * 126, "e" * 254}
    for n in lengths:
        others |= {"n" * (n - 1) + "x", "x" + "n" * (n - 1), "n" * (n // 2) + "x" * (n - n // 2)}
        others |= {"n" * m for m in (n - 1, n + 1) if 0 < m <= 255}
    others -= declared
    for name in declared | others:
        box.file(f"D/{name}", CANARY)
    result = box.python(box.pack(read=sorted(f"{place}/{name}" for name in declared)), f"""
os.chdir({place!r})
for name in {sorted(declared)!r}:
    read(name)
for name in {sorted(others)!r}:
    attempt(read, name)
""")
    equal(result.out.split(), ["ENOENT"] * len(others), "undeclared names")
    violated(result, *(("fs.read", f"{place}/{name}") for name in others))


def test_deep_directories(box):
    """At depth 200 the same rules hold as at depth 1."""
    deep = "/".join(itertools.repeat("d", 200))
    inside, outside = (box.file(f"{place}/{deep}/f", CANARY) for place in ("W", "V"))
    result = box.tries(box.usual(), [
        (f"read({inside!r})", "ok"), (f"write({inside!r})", "ok"),
        (f"os.mkdir({inside + 'd'!r})", "ok"), (f"os.rename({inside!r}, {inside + 'd/f'!r})", "ok"),
        (f"read({outside!r})", "ENOENT"), (f"os.mkdir({outside + 'd'!r})", "ENOENT")])
    violated(result, ("fs.read", outside), ("fs.write", outside + "d"))


def test_inode_reuse(box):
    """What takes the inode number of a declared object that is gone inherits nothing from it."""
    file, folder = box.file("D/file", "first"), box.dir("D/folder")
    box.file("D/folder/inner", "first")
    spare = box.dir("E")
    number = {name: os.stat(name).st_ino for name in (file, folder)}

    def reuse():
        wait(box.path("W/started"))
        os.unlink(file)
        shutil.rmtree(folder)
        for i in range(30):
            box.file(f"E/f{i}", CANARY)
            box.file(f"E/d{i}/inner", CANARY)
        box.file("W/made")

    with meanwhile(reuse):
        result = box.python(box.usual(read=[file, folder]), f"""
read({file!r}), read({folder + '/inner'!r})
write({box.path('W/started')!r})
wait({box.path('W/made')!r})
for i in range(30):
    attempt(read, f"{spare}/f{{i}}")
    attempt(read, f"{spare}/d{{i}}/inner")
attempt(read, {file!r})
""")
    equal(result.out.split(), ["ENOENT"] * 61, "answers")
    new = {entry.inode(): entry.name for entry in os.scandir(spare)}
    check(number[file] in new, "the test is void: the number was not used again")
    violated(result, *(("fs.read", f"{spare}/{name}")
                       for i in range(30) for name in (f"f{i}", f"d{i}/inner")))
    clean(box.tries(box.usual(read=[spare]), [(f"read({spare + '/' + new[number[file]]!r})",
                                               "ok")]))
