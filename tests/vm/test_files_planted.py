# SPDX-License-Identifier: Apache-2.0
"""Does what one run may write decide what a later run is granted? Symbolic links left behind."""
import os

from lib import check, equal


def test_planted_links(box):
    """A link that an agent left at, above or below a declared path opens nothing to the next run;
    ordinary files and links where nothing is led astray work."""
    note = box.file("W2/notes.txt", "mine\n")
    out = box.path("OUT")
    w3 = box.dir("W3")
    box.file("W3/sub/f", "x")
    pack = box.pack(read=[note, out, w3 + "/sub"], write=[note, out, w3])
    first = box.python(pack, f"""
os.unlink({note!r})
attempt(os.symlink, {box.s!r}, {note!r})
attempt(write, {note!r}, b"mine again")
attempt(os.symlink, {box.root!r}, {out!r})
os.symlink({box.s!r}, {w3!r} + "/l")
attempt(os.rename, {w3!r} + "/l", {out!r})
attempt(os.link, {w3!r} + "/l", {out!r}, follow_symlinks=False)
os.rename({w3!r} + "/sub", {w3!r} + "/x")
attempt(os.symlink, {box.root!r}, {w3!r} + "/sub")
attempt(os.mkdir, {out!r})
attempt(os.symlink, "x", {out!r} + "/inner")
""")
    equal(first.out.split(), ["EACCES", "ok", "EACCES", "EACCES", "EACCES", "ok", "ok", "ok"])
    second = box.python(pack, f"""
attempt(read, {w3!r} + "/sub/S")
attempt(read, {box.s!r})
attempt(read, {w3!r} + "/x/f")
attempt(read, {note!r})
""")
    equal(second.out.split(), ["ENOENT", "ENOENT", "ENOENT", "ok"])
    check("W3/sub leads through a symbolic link" in second.err, "the link is warned of")


def test_links_of_strangers(box):
    """In a directory where everybody may make links only root's and the owner's are followed."""
    shared = box.dir("shared")
    os.chmod(shared, 0o1777)
    os.symlink(box.s, shared + "/theirs")
    os.lchown(shared + "/theirs", 1000, 1000)
    os.symlink(box.path("R/f"), shared + "/ours")
    result = box.python(box.pack(read=[shared + "/theirs", shared + "/ours"]), f"""
attempt(read, {box.s!r})
attempt(read, {shared!r} + "/ours")
""")
    equal(result.out.split(), ["ENOENT", "ok"])
