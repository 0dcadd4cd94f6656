# SPDX-License-Identifier: Apache-2.0
"""Where does a user work with ordinary tools? A directory that a run shows as /workdir."""
import os
import subprocess

from lib import clean, equal

SHELL = ["sh", "cat", "ls", "mkdir", "rm", "mv", "cp", "ln", "chmod", "touch"]
USERS = {"root": 0, "agent": 1000}


class Place:
    """A directory of a user's own, that a run shows as /workdir and that holds its home."""

    def __init__(self, box, user):
        self.box = box
        self.user = user
        self.root = box.dir(f"work-{user}")

    def file(self, name, content="", mode=0o644):
        return self.box.file(os.path.join(self.root, name), content, mode)

    def own(self):
        """All that is there becomes the user's."""
        uid = USERS[self.user]
        for path, folders, files in os.walk(self.root):
            for name in [".", *folders, *files]:
                os.chown(os.path.join(path, name), uid, uid, follow_symlinks=False)

    def run(self, programs, *command, options=(), **more):
        """A command, under a manifest that grants the directory, /tmp and these programs."""
        self.own()
        pack = self.box.pack(read=["/workdir", "/tmp"], write=["/workdir", "/tmp"],
                             programs=programs)
        return self.box.run(pack, *command, options=[
            "--user", self.user, "--workdir", self.root, "--env", "HOME=/workdir", *options],
            **more)

    def shell(self, script, programs, **more):
        """The same with a script of the shell, that ends at the first command that fails."""
        return self.run(SHELL + list(programs), "sh", "-ec", script, **more)

    def outside(self, *command):
        """What the same user finds afterwards, without comet."""
        uid = USERS[self.user]
        return subprocess.run(command, cwd=self.root, user=uid, group=uid, extra_groups=[],
                              capture_output=True, text=True, check=True, timeout=60,
                              env={**os.environ, "HOME": self.root}).stdout


def places(box):
    return [Place(box, user) for user in USERS]


def spotless(result, out=None):
    """Exit 0, nothing refused, and no complaint either."""
    clean(result)
    equal(result.err, "", "standard error")
    if out is not None:
        equal(result.out, out, "standard output")
