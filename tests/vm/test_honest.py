# SPDX-License-Identifier: Apache-2.0
"""Does what developers do all day work in a writable directory, for root and for a user?"""
import io
import json
import os
import subprocess
import tarfile
import zipfile

from lib import check, clean, equal, limit, unchanged, violated

SHELL = ["sh", "cat", "ls", "mkdir", "rm", "mv", "cp", "ln", "chmod", "touch"]
USERS = {"root": 0, "agent": 1000}


class Place:
    """A directory of a user's own, that a run shows as /workdir and that holds its home."""

    def __init__(self, box, user):
        self.box = box
        self.user = user
        self.root = box.dir(f"work-{user}")
        self.given = {"work": self.root}

    def file(self, name, content="", mode=0o644):
        return self.box.file(os.path.join(self.root, name), content, mode)

    def own(self):
        """All that is there becomes the user's."""
        uid = USERS[self.user]
        for path, folders, files in os.walk(self.root):
            for name in [".", *folders, *files]:
                os.chown(os.path.join(path, name), uid, uid, follow_symlinks=False)

    def run(self, script, programs, shell="sh", options=(), **more):
        """A script of the shell, under a manifest that grants the directory, /tmp and programs."""
        self.own()
        pack = self.box.pack(read=["/workdir"], write=["/workdir", "/tmp"],
                             programs=SHELL + list(programs))
        command = [shell, "-ec", script] if shell.endswith("sh") else [*shell.split(), script]
        return self.box.run(pack, *command, options=[
            "--user", self.user, "--workdir", self.root, "--env", "HOME=/workdir", *options],
            **more)

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
git fsck --no-progress
git clone -q . ../clone
git -C ../clone status --short
git -C ../clone rebase -q HEAD~1
git rev-parse --show-toplevel
"""
GIT_PROGRAMS = ["git", "/usr/lib/git-core/git", "/usr/lib/git-core/git-submodule", "basename",
                "sed", "uname"]


@limit(300)
def test_git(box):
    """git makes repositories, commits, branches, stashes, work trees and submodules; it packs."""
    for place in places(box):
        result = place.run(GIT, GIT_PROGRAMS, timeout=140)
        spotless(result, "/workdir/repo\n")
        equal(place.outside("git", "-C", "repo", "log", "--format=%s", "main").split("\n")[0],
              "sub", "last commit")
        equal(place.outside("git", "-C", "repo", "log", "--format=%s", "side").split()[0],
              "three", "last commit of the work tree")


SQLITE = """
import os, sqlite3, sys
def writer(name, mode):
    db = sqlite3.connect(name, timeout=60)
    assert db.execute(f"pragma journal_mode={mode}").fetchone()[0] == mode
    db.execute("create table if not exists t (who int, i int)")
    db.commit()
    return db
for mode in "delete", "truncate", "persist", "memory", "wal":
    name = f"{mode}.db"
    writer(name, mode).close()
    children = []
    for who in range(2):
        pid = os.fork()
        if not pid:
            db = writer(name, mode)
            for i in range(10):
                with db:
                    db.execute("insert into t values (?, ?)", (who, i))
            os._exit(0)
        children.append(pid)
    assert all(os.waitpid(pid, 0)[1] == 0 for pid in children)
    db = writer(name, mode)
    db.execute("pragma wal_checkpoint(truncate)")
    db.execute("vacuum")
    print(mode, db.execute("select count(*) from t").fetchone()[0])
"""


def test_sqlite(box):
    """Two processes write one SQLite database, in every journal mode."""
    for place in places(box):
        result = place.run(SQLITE, [], shell="python3 -c")
        spotless(result, "delete 20\ntruncate 20\npersist 20\nmemory 20\nwal 20\n")
        equal(place.outside("sqlite3", "wal.db", "select count(*) from t"), "20\n", "rows")


def test_sqlite_of_one_file(box):
    """Where the database alone is granted, the event names the journal that is not."""
    box.file("D/base.db")
    base = box.path("D/base.db")
    code = f"""
import sqlite3
db = sqlite3.connect({base!r})
try:
    with db:
        db.execute("create table t (i int)")
except sqlite3.OperationalError as e:
    print(e)
"""
    result = box.python(box.pack(read=[base], write=[base]), code)
    check(result.out, "SQLite made a table without its journal")
    check(("fs.write", base + "-journal") in
          {(v["surface"], v["requested"]) for v in result.violations}, "no event of the journal")
    equal(result.code, 3, "exit code")
    clean(box.python(box.pack(read=[box.path("D")], write=[box.path("D")]), code))


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


@limit(500)
def test_pip(box):
    """venv makes an environment, and pip installs into it from local files."""
    for place in places(box):
        wheel(place, "thing")
        result = place.run("""
python3 -m venv env
env/bin/python -m pip install -q --no-index --find-links wheels thing
env/bin/python -c 'import thing; thing.main()'
python3 -m pip install -q --no-index --target flat wheels/*.whl
PYTHONPATH=flat python3 -c 'import thing; thing.main()'
""", ["python3"], timeout=240)
        spotless(result, "from thing\nfrom thing\n")
        equal(place.outside("env/bin/thing"), "from thing\n", "the installed program")


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


@limit(500)
def test_npm(box):
    """npm installs a package from a local archive and runs a script of the project."""
    for place in places(box):
        tarball(place, "thing")
        place.file("package.json", json.dumps({
            "name": "mine", "version": "1.0.0", "scripts": {"talk": "node -p 'require(\"thing\")'"}}))
        result = place.run("""
npm install --silent --offline --no-audit --no-fund ./thing-1.0.0.tgz
npm run --silent talk
""", ["npm", "node"], timeout=240)
        spotless(result, "from thing\n")
        equal(place.outside("node_modules/.bin/thing"), "from thing\n", "the installed program")
        unchanged(os.path.join(place.root, "node_modules/thing/after"), "ran\n")


POOL = """
import concurrent.futures, multiprocessing, os, signal
def square(i):
    return i * i
if __name__ == "__main__":
    with multiprocessing.Pool(4) as pool:
        print(sum(pool.map(square, range(100))))
    with concurrent.futures.ProcessPoolExecutor(4) as pool:
        print(sum(pool.map(square, range(100))))
    for method in "spawn", "forkserver":
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(sum(pool.map(square, range(10))))
    with multiprocessing.Manager() as manager:
        print(sum(manager.list([1, 2, 3])))
    from multiprocessing.shared_memory import SharedMemory
    memory = SharedMemory(create=True, size=4096)
    child = os.fork()
    if not child:
        memory.buf[0] = 7
        os._exit(0)
    os.waitpid(child, 0)
    print(memory.buf[0])
    memory.close()
    memory.unlink()
"""


@limit(300)
def test_python_pool(box):
    """Python's pools of processes work, whatever way they start, with locks and shared memory."""
    for place in places(box):
        place.file("pool.py", POOL)
        result = place.run("pool.py", [], shell="python3", timeout=120)
        spotless(result, "328350\n328350\n285\n285\n6\n7\n")


NODE_POOL = """
const { Worker, isMainThread, parentPort } = require('worker_threads');
const { fork, spawn, execFileSync, spawnSync } = require('child_process');
if (!isMainThread) {
  parentPort.on('message', (n) => { parentPort.postMessage(n * n); });
} else if (process.argv[2] === 'child') {
  process.on('message', (n) => { process.send(n * n); });
} else {
  const ask = (to) => (n) => new Promise((good, bad) => {
    to.once('message', good); to.once('error', bad);
    (to.postMessage || to.send).call(to, n);
  });
  (async () => {
    const workers = [0, 1, 2, 3].map(() => new Worker(__filename));
    let sum = 0;
    for (const n of await Promise.all(workers.map((w, i) => ask(w)(i)))) sum += n;
    await Promise.all(workers.map((w) => w.terminate()));
    const children = [0, 1, 2, 3].map(() => fork(__filename, ['child']));
    for (const n of await Promise.all(children.map((c, i) => ask(c)(i)))) sum += n;
    await Promise.all(children.map((c) => new Promise((good) => {
      c.on('exit', good); c.kill('SIGTERM');
    })));
    sum += Number(execFileSync('sh', ['-c', 'echo 100']).toString());
    sum += spawnSync('sh', ['-c', 'exit 5']).status;
    console.log(sum);
  })();
}
"""


@limit(300)
def test_node_pool(box):
    """node's worker threads and its child processes work."""
    for place in places(box):
        place.file("pool.js", NODE_POOL)
        spotless(place.run("pool.js", ["node"], shell="node", timeout=120), "133\n")


SIGNALS = """
import os, resource, signal, subprocess, time
workers = [subprocess.Popen(["sleep", "60"], start_new_session=i % 2 == 1) for i in range(8)]
for w in workers:
    os.kill(w.pid, 0)
    os.setpriority(os.PRIO_PROCESS, w.pid, 5)
    os.sched_setaffinity(w.pid, {0})
    os.sched_setscheduler(w.pid, os.SCHED_BATCH, os.sched_param(0))
    resource.prlimit(w.pid, resource.RLIMIT_NOFILE, (64, 64))
    w.send_signal(signal.SIGSTOP)
    w.send_signal(signal.SIGCONT)
for w in workers[1::2]:
    os.killpg(w.pid, signal.SIGTERM)
for w in workers[0::2]:
    signal.pidfd_send_signal(os.pidfd_open(w.pid), signal.SIGKILL)
print(*(w.wait() for w in workers))
print(os.getpriority(os.PRIO_PROCESS, 0))
signal.signal(signal.SIGUSR1, lambda *_: print("mine", flush=True))
os.kill(os.getpid(), signal.SIGUSR1)
"""


def test_signals_among_descendants(box):
    """A program signals, stops, slows down and pins its own children."""
    for place in places(box):
        result = place.run(SIGNALS, ["sleep"], shell="python3 -c")
        spotless(result, "-9 -15 -9 -15 -9 -15 -9 -15\n0\nmine\n")


COPIES = """
mkdir -p tree/sub
echo one > tree/one
echo two > tree/sub/two
ln -s one tree/link
ln tree/one tree/hard
chmod 750 tree/sub
touch -d 2020-02-02 tree/sub/two tree/sub
setfattr -n user.word -v hello tree/one
setfacl -m u:1000:r tree/one
cp -a tree copy
tar --xattrs --acls -czf tree.tgz tree
mkdir out
tar --xattrs --acls -xzpf tree.tgz -C out
rsync -aHAX tree/ mirror/
echo three > tree/three
rsync -aHAX --delete --inplace tree/ mirror/
rm mirror/three
install -m 640 -D tree/one deep/er/one
mv copy/sub/two copy/two
sed -i s/two/2/ copy/two
find tree -newer tree/sub/two -name three
sort -S 64k -T /tmp big > sorted
head -c 100000 /dev/zero | gzip > zeros.gz
gzip -dc zeros.gz | cksum
split -b 40000 zeros.gz part-
dd if=/dev/zero of=block bs=4096 count=4 conv=fsync status=none
truncate -s 0 block
fallocate -l 8192 block
flock lock true
mktemp -d > /dev/null
diff -r tree/sub out/tree/sub
rm -r out
"""
COPIERS = ["tar", "gzip", "rsync", "install", "sed", "find", "sort", "head", "cksum", "split", "dd",
           "truncate", "fallocate", "flock", "true", "mktemp", "diff", "setfattr", "setfacl"]


@limit(300)
def test_copies(box):
    """cp -a, tar, rsync and their like keep modes, times, links, attributes and access lists."""
    for place in places(box):
        place.file("big", "".join(f"{i * 7919 % 10007}\n" for i in range(10007)))
        result = place.run(COPIES, COPIERS, timeout=120)
        spotless(result, "tree/three\n1451065240 100000\n")
        for copy in "copy", "mirror":
            st = os.stat(os.path.join(place.root, copy, "sub"))
            equal((oct(st.st_mode), int(st.st_mtime) if copy == "mirror" else 0),
                  ("0o40750", 1580601600 if copy == "mirror" else 0), copy)
            check("user:agent:r--" in place.outside("getfacl", f"{copy}/one"), f"acl of {copy}")
            check("hello" in place.outside("getfattr", "-d", f"{copy}/one"), f"attribute of {copy}")
        equal(os.stat(os.path.join(place.root, "mirror/one")).st_nlink, 2, "hard links")


MAKE = """
all: $(patsubst %,out/%,1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
\t@cat $^ > all
out/%: in/%
\t@mkdir -p out; cp $< $@.tmp; mv $@.tmp $@
"""


def test_make(box):
    """make runs jobs in parallel, and knows what is done."""
    for place in places(box):
        place.file("Makefile", MAKE)
        for i in range(1, 17):
            place.file(f"in/{i}", f"{i}\n")
        result = place.run("make -s -j4; make -s -j4; make -q; cat all", ["make"])
        spotless(result, "".join(f"{i}\n" for i in range(1, 17)))


def test_vim(box):
    """An editor saves by renaming and by writing over, with a backup and a swap file."""
    for place in places(box):
        place.file("text", "old\n", 0o600)
        for copy, word in ("no", "first"), ("yes", "second"):
            result = place.run(f"vim.tiny -N -u NONE -i NONE -es -c 'set backup backupcopy={copy} "
                               f"directory=. updatecount=1' -c '%s/.*/{word}/' -c wq text",
                               ["vim.tiny"])
            spotless(result, "")
            unchanged(os.path.join(place.root, "text"), f"{word}\n")
        unchanged(os.path.join(place.root, "text~"), "first\n")
        equal(os.stat(os.path.join(place.root, "text")).st_mode & 0o777, 0o600, "mode")


WATCH = """
const fs = require('fs');
const watcher = fs.watch('.', (what, name) => {
  if (name !== 'made') return;
  watcher.close();
  console.log('seen');
});
setTimeout(() => fs.writeFileSync('made', 'x'), 100);
"""


def test_watching(box):
    """A program is told of changes in a directory that it may read; tail -f follows a file."""
    for place in places(box):
        place.file("watch.js", WATCH)
        place.file("log", "first\n")
        spotless(place.run("watch.js", [], shell="node"), "seen\n")
        result = place.run("(sleep 1; echo second >> log) & tail -n 1 -f --pid=$! log",
                           ["tail", "sleep"])
        spotless(result, "first\nsecond\n")


def test_paths_of_parents(box):
    """What asks for every directory above finds its way; the directories are still not listed."""
    inner = box.dir("W/sub")
    os.symlink("sub", box.path("W/alias"))
    box.file("W/node_modules/thing/index.js", "module.exports = 1;\n")
    subprocess.run(["git", "init", "-q", box.w], check=True)
    for user, uid in USERS.items():
        for path, folders, files in os.walk(box.w):
            for name in [".", *folders, *files]:
                os.chown(os.path.join(path, name), uid, uid, follow_symlinks=False)
        pack = box.usual(programs=["pwd", "realpath", "python3", "node", "git", "readlink"])
        result = box.run(pack, "sh", "-ec", f"""
cd {box.w}/alias
/bin/pwd -P
realpath .
readlink -f {box.w}/alias/none
python3 -c 'import os; print(os.path.realpath("."), os.getcwd())'
node -p 'require.resolve("thing") + " " + require("fs").realpathSync(".")'
git rev-parse --show-toplevel
""", options=["--user", user])
        spotless(result, f"{inner}\n{inner}\n{inner}/none\n{inner} {inner}\n"
                         f"{box.w}/node_modules/thing/index.js {inner}\n{box.w}\n")
        result = box.run(pack, "node", "-e", f"""
for (const d of ['{box.root}', '/srv', '/'])
  try {{ require('fs').readdirSync(d); console.log('listed'); }}
  catch (e) {{ console.log(e.code); }}
""", options=["--user", user])
        equal(result.out, "ENOENT\n" * 3, "listings")
        violated(result, ("fs.read", box.root), ("fs.read", "/srv"), ("fs.read", "/"))
