# SPDX-License-Identifier: Apache-2.0
"""Do rules on paths hold across filesystems and mounts?"""
import os
import subprocess

from lib import CANARY, clean, equal, unchanged, violated


def mount(box, target, *arguments):
    """mount(8) at the box's directory target, until the box is closed."""
    place = box.dir(target)
    subprocess.run(["mount", *arguments, place], check=True)
    box.closers.insert(0, lambda: subprocess.run(["umount", place], check=True))
    return place


def test_btrfs_subvolumes(box):
    """On btrfs, where all subvolumes number their files alike, a rule means its own file alone."""
    for module in ("loop", "btrfs"):
        subprocess.run(["modprobe", module], check=True)
    image = box.path("image")
    with open(image, "wb") as f:
        f.truncate(128 << 20)
    subprocess.run(["mkfs.btrfs", "-q", image], check=True)
    top = mount(box, "btrfs", "-o", "loop", image)
    for volume in ("one", "two"):
        subprocess.run(["btrfs", "-q", "subvolume", "create", f"{top}/{volume}"], check=True)
        for name in ("file", "dir/inner"):
            box.file(f"btrfs/{volume}/{name}", CANARY)
    for name in ("", "/file", "/dir", "/dir/inner"):
        equal(os.stat(f"{top}/one{name}").st_ino, os.stat(f"{top}/two{name}").st_ino, "numbers")
    answers = [(f"read({top + '/two/file'!r})", "ENOENT"),
               (f"read({top + '/two/dir/inner'!r})", "ENOENT"),
               (f"os.listdir({top + '/two'!r})", "ENOENT")]
    expected = [("fs.read", f"{top}/two{name}") for name in ("/file", "/dir/inner", "")]
    result = box.tries(box.pack(read=[f"{top}/one/file", f"{top}/one/dir"]), [
        (f"read({top + '/one/file'!r})", "ok"), (f"read({top + '/one/dir/inner'!r})", "ok"),
        (f"os.listdir({top + '/one'!r})", "ENOENT"), *answers])
    violated(result, ("fs.read", f"{top}/one"), *expected)
    result = box.tries(box.pack(read=[f"{top}/one"], write=[f"{top}/one"]), [
        (f"read({top + '/one/file'!r})", "ok"), (f"write({top + '/one/dir/new'!r})", "ok"),
        (f"os.listdir({top + '/one'!r})", "ok"), *answers])
    violated(result, *expected)


def overlay(box, lower, upper):
    """An overlay mount at O; lower holds files, upper is empty."""
    for name in ("D/low", "D/cut", "D/gone", "D/moved", "D/sub/low", "E/low", "single", "other"):
        box.file(f"{lower}/{name}", CANARY)
    box.dir(f"{upper}/up")
    box.dir(f"{upper}/work")
    lower, upper = box.path(lower), box.path(upper)
    return mount(box, "O", "-t", "overlay", "overlay", "-o",
                 f"lowerdir={lower},upperdir={upper}/up,workdir={upper}/work")


def try_overlay(box, lower, upper):
    top = overlay(box, lower, upper)
    hidden = [f"{top}/other", f"{top}/E/low", box.path(f"{lower}/D/low"),
              box.path(f"{lower}/single"), box.path(f"{upper}/up/D/cut")]
    result = box.tries(box.pack(read=[f"{top}/D", f"{top}/single"], write=[f"{top}/D"]), [
        ("read('low')", "ok"), ("os.listdir('.')", "ok"), (f"read({top + '/single'!r})", "ok"),
        (f"write({top + '/single'!r})", "EACCES"),
        ("read('sub/low')", "ok"), ("os.chmod('sub/low', 0o600)", "ok"),
        ("write('low', b'new')", "ok"), ("read('low')", "ok"), ("os.truncate('cut', 0)", "ok"),
        ("write('created', b'new')", "ok"), ("read('created')", "ok"),
        ("os.mkdir('made')", "ok"), ("os.rename('moved', 'made/moved')", "ok"),
        ("read('made/moved')", "ok"), ("os.unlink('gone')", "ok"), ("read('gone')", "ENOENT"),
        ("os.link('low', 'linked')", "ok"), ("read('linked')", "ok"),
        (f"os.rename('created', {top + '/created'!r})", "ENOENT"),
        (f"write({hidden[0]!r})", "EACCES")]
        + [(f"read({name!r})", "ENOENT") for name in hidden], before=f"os.chdir({top + '/D'!r})\n")
    violated(result, ("fs.write", f"{top}/single"), ("fs.write", f"{top}/created"),
             ("fs.write", hidden[0]), *(("fs.read", name) for name in hidden))
    unchanged(f"{top}/D/low", "new")
    unchanged(f"{top}/D/made/moved", CANARY)
    unchanged(box.path(f"{lower}/D/low"), CANARY)
    equal(sorted(os.listdir(f"{top}/D")),
          ["created", "cut", "linked", "low", "made", "sub"], "names in the overlay")


def test_overlay_over_disk(box):
    """On an overlay the overlay's names count, not the layers': files below, changes in memory."""
    mount(box, "memory", "-t", "tmpfs", "tmpfs")
    try_overlay(box, "disk", "memory/layer")


def test_overlay_over_memory(box):
    """The same with the files below in memory and the changes on disk."""
    mount(box, "memory", "-t", "tmpfs", "tmpfs")
    try_overlay(box, "memory/layer", "disk")


def test_mount_points(box):
    """A declared directory may be a mount point or contain one; a mount beside it is another."""
    own = mount(box, "M", "-t", "tmpfs", "tmpfs")
    below = mount(box, "W/deep/er", "-t", "tmpfs", "tmpfs")
    beside = mount(box, "N", "-t", "tmpfs", "tmpfs")
    for place in ("M/sub", "W/deep", "W/deep/er/sub", "N/sub"):
        box.file(f"{place}/f", CANARY)
        os.symlink("f", box.path(f"{place}/link"))
    answers = []
    for place in (f"{own}/sub", f"{box.w}/deep", f"{below}/sub"):
        answers += [(code.format(place), "ok") for code in (
            "read('{0}/f')", "read('{0}/link')", "write('{0}/new')", "os.readlink('{0}/link')",
            "os.listdir('{0}')", "os.rename('{0}/new', '{0}/newer')", "os.chmod('{0}/f', 0o600)",
            "os.truncate('{0}/f', 0)", "os.mkdir('{0}/d')", "os.rmdir('{0}/d')")]
    answers += [(f"os.stat({path!r})", "ok") for path in (own, below)]
    pack = box.usual(read=[own], write=[own])
    clean(box.tries(pack, answers))
    new = f"{beside}/sub/new"
    result = box.tries(pack, [
        (f"read({beside + '/sub/f'!r})", "ENOENT"), (f"write({new!r})", "EACCES"),
        (f"os.readlink({beside + '/sub/link'!r})", "ENOENT"),
        (f"os.listdir({beside!r})", "ENOENT"), (f"read({own + '/sub/f'!r})", "ok")])
    violated(result, ("fs.read", f"{beside}/sub/f"), ("fs.write", new), ("fs.read", beside),
             ("fs.read", f"{beside}/sub/link"))


def test_bind_mounts(box):
    """What is mounted into a declared directory is granted there, not by its other name."""
    for name in ("source/f", "source/sub/f", "alone"):
        box.file(name, CANARY)
    os.symlink("sub/f", box.path("source/link"))
    mount(box, "W/bound", "--bind", box.dir("source"))
    mount(box, "R/bound", "--bind", box.dir("source/sub"))
    box.file("W/file")
    file = box.path("W/file")
    subprocess.run(["mount", "--bind", box.path("alone"), file], check=True)
    box.closers.insert(0, lambda: subprocess.run(["umount", file], check=True))
    result = box.tries(box.usual(), [
        (f"read({box.path('W/bound/f')!r})", "ok"), (f"write({box.path('W/bound/f')!r})", "ok"),
        (f"read({box.path('W/bound/sub/f')!r})", "ok"), (f"read({file!r})", "ok"),
        (f"read({box.path('W/bound/link')!r})", "ok"),
        (f"os.readlink({box.path('W/bound/link')!r})", "ok"),
        (f"read({box.path('R/bound/f')!r})", "ok"), (f"write({box.path('R/bound/f')!r})", "EACCES"),
        (f"read({box.path('source/f')!r})", "ENOENT"),
        (f"read({box.path('source/sub/f')!r})", "ENOENT"),
        (f"read({box.path('alone')!r})", "ENOENT"),
        (f"write({box.path('alone')!r})", "EACCES")])
    violated(result, ("fs.write", box.path("R/bound/f")), ("fs.read", box.path("source/f")),
             ("fs.read", box.path("source/sub/f")), ("fs.read", box.path("alone")),
             ("fs.write", box.path("alone")))
    unchanged(box.path("source/f"), "x")
    unchanged(box.path("source/sub/f"), CANARY)
