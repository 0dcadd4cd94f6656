# SPDX-License-Identifier: Apache-2.0
"""Does what developers do all day work in a writable directory, for root and for a user?"""
import os
import subprocess

from lib import check, equal, limit, unchanged, violated
from place import USERS, places, spotless


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
        result = place.shell(COPIES, COPIERS, timeout=120)
        spotless(result, "tree/three\n1260869142 100000\n")
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
        result = place.shell("make -s -j4; make -s -j4; make -q; cat all", ["make"])
        spotless(result, "".join(f"{i}\n" for i in range(1, 17)))


def test_vim(box):
    """An editor saves by renaming and by writing over, with a backup and a swap file."""
    for place in places(box):
        place.file("text", "old\n", 0o600)
        for copy, word in ("no", "first"), ("yes", "second"):
            options = f"backup backupcopy={copy} directory=. updatecount=1"
            result = place.run(["vim.tiny"], "vim.tiny", "-N", "-u", "NONE", "-i", "NONE", "-es",
                               "-c", f"set {options}", "-c", f"%s/.*/{word}/", "-c", "wq", "text")
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
        spotless(place.run([], "node", "watch.js"), "seen\n")
        result = place.shell("(sleep 1; echo second >> log) & tail -n 1 -f --pid=$! log",
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
        # Where the agent starts, a listing is an ordinary probe.
        violated(result, ("fs.read", box.root), ("fs.read", "/srv"))


LOOKS = """
id
whoami
hostname
uname -a
date
nproc
free
uptime
who
ps -ef
pgrep -c sh
top -bn1
df .
du -s .
env
locale
getconf ARG_MAX
file text
strace -f -o trace sh -c true
ls -la /usr/lib
ls -laZ .
lsattr -d .
chattr +A text
getfattr -d text
stat -f .
which python3
ip addr
getent hosts localhost
getent passwd root
tty || true
"""


def test_looking_around(box):
    """What is asked of the machine and of the run itself is answered."""
    for place in places(box):
        place.file("text", "some text\n")
        programs = {line.split()[0] for line in LOOKS.strip().splitlines()}
        spotless(place.shell(f"exec < /dev/null > /workdir/out\n{LOOKS}", sorted(programs)), "")
