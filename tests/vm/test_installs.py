# SPDX-License-Identifier: Apache-2.0
"""Do version control and installers work in a writable directory, for root and for a user?"""
import io
import json
import os
import tarfile
import zipfile

from lib import equal, limit, unchanged, variant
from place import places, spotless


GIT = """
git config --global user.name a
git config --global user.email a@example.org
git config --global init.defaultBranch main
git config --global protocol.file.allow always
git init -q other
cd other
echo other > f
git add f
git commit -qm other
cd ..
git init -q repo
cd repo
echo one > a
git add a
git commit -qm one
git branch side
git checkout -q side
echo two > b
git add b
git commit -qm two
git checkout -q main
echo more >> a
git commit -qam more
git merge -q -m merged side
echo changed >> a
git stash -q
git stash pop -q
git checkout -q -- a
git worktree add -q ../tree side
cd ../tree
echo three > c
git add c
git commit -qm three
cd ../repo
git submodule --quiet add /workdir/other sub
git commit -qm sub
git gc -q
git fsck --no-progress --no-dangling
git clone -q . ../clone
git -C ../clone status --short
git -C ../clone rebase -q HEAD~1
git rev-parse --show-toplevel
"""
GIT_CORE = "/usr/lib/git-core"
GIT_PROGRAMS = ["git", f"{GIT_CORE}/git", f"{GIT_CORE}/git-submodule",
                f"{GIT_CORE}/git-sh-i18n--envsubst", "basename", "sed", "uname"]


@variant("tools")
@limit(300)
def test_git(box):
    """git makes repositories, commits, branches, stashes, work trees and submodules; it packs."""
    for place in places(box):
        result = place.shell(GIT, GIT_PROGRAMS, options=["--quiet"], timeout=140)
        spotless(result, "/workdir/repo\n")
        equal(place.outside("git", "-C", "repo", "log", "--format=%s", "main").split("\n")[0],
              "sub", "last commit")
        equal(place.outside("git", "-C", "repo", "log", "--format=%s", "side").split()[0],
              "three", "last commit of the work tree")


def wheel(place, name):
    """A wheel of one module, written by hand."""
    info = f"{name}-1.0.dist-info"
    files = {f"{name}.py": f"word = 'from {name}'\ndef main():\n    print(word)\n",
             f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\n"
                              "Tag: py3-none-any\n",
             f"{info}/entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n"}
    files[f"{info}/RECORD"] = "".join(f"{n},,\n" for n in files) + f"{info}/RECORD,,\n"
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for member, text in files.items():
            archive.writestr(member, text)
    return place.file(f"wheels/{name}-1.0-py3-none-any.whl", data.getvalue())


@variant("tools")
@limit(500)
def test_pip(box):
    """venv makes an environment, and pip installs into it from local files."""
    for place in places(box):
        wheel(place, "thing")
        result = place.shell("""
export PIP_ROOT_USER_ACTION=ignore
python3 -m venv env
env/bin/python -m pip install -q --no-index --find-links wheels thing
env/bin/python -c 'import thing; thing.main()'
python3 -m pip install -q --no-index --target flat wheels/*.whl
PYTHONPATH=flat python3 -c 'import thing; thing.main()'
""", ["python3", "uname"], timeout=240)
        spotless(result, "from thing\nfrom thing\n")
        equal(place.outside("env/bin/python", "env/bin/thing"), "from thing\n", "outside")


def tarball(place, name):
    """A package for npm, with a step of its own at the end of the installation."""
    files = {"package.json": json.dumps({
                 "name": name, "version": "1.0.0", "main": "index.js", "bin": {name: "bin.js"},
                 "scripts": {"postinstall": "node after.js"}}),
             "index.js": f"module.exports = 'from {name}';\n",
             "bin.js": "#!/usr/bin/env node\nconsole.log(require('./index.js'));\n",
             "after.js": "require('fs').writeFileSync('after', 'ran\\n');\n"}
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for member, text in files.items():
            entry = tarfile.TarInfo(f"package/{member}")
            entry.size = len(text)
            entry.mode = 0o755
            archive.addfile(entry, io.BytesIO(text.encode()))
    return place.file(f"{name}-1.0.0.tgz", data.getvalue())


@variant("tools")
@limit(500)
def test_npm(box):
    """npm installs a package from a local archive and runs a script of the project."""
    for place in places(box):
        tarball(place, "thing")
        place.file("package.json", json.dumps({
            "name": "mine", "version": "1.0.0", "scripts": {"talk": "node -p 'require(\"thing\")'"}}))
        result = place.shell("""
npm install --silent --offline --no-audit --no-fund ./thing-1.0.0.tgz
npm run --silent talk
""", ["npm", "node"], timeout=240)
        spotless(result, "from thing\n")
        equal(place.outside("node_modules/.bin/thing"), "from thing\n", "the installed program")
        unchanged(os.path.join(place.root, "node_modules/thing/after"), "ran\n")
