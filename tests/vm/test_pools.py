# SPDX-License-Identifier: Apache-2.0
"""Do programs of several processes work together, for root and for a user?"""
import os

from lib import CANARY, check, clean, equal, limit, variant
from place import places, spotless


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
        result = place.run([], "python3", "-c", SQLITE)
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


@variant("tools")
@limit(300)
def test_python_pool(box):
    """Python's pools of processes work, whatever way they start, with locks and shared memory."""
    for place in places(box):
        place.file("pool.py", POOL)
        result = place.run([], "python3", "pool.py", timeout=120)
        spotless(result, "328350\n328350\n285\n285\n6\n7\n")


def test_shared_memory_ends_at_the_run(box):
    """What the host has in /dev/shm the run does not see, and the host nothing of the run's."""
    host, own = (f"/dev/shm/comet-test-{name}" for name in ("host", "own"))
    box.file(host, CANARY)
    box.closers.append(lambda: os.unlink(host))
    result = box.python(box.pack(name="least"), f"""
attempt(read, {host!r})
attempt(write, {own!r})
attempt(os.mkdir, {own + ".d"!r})
print(sorted(os.listdir("/dev/shm")))
attempt(read, "/dev/shm/../shm/" + os.path.basename({own!r}))
""")
    equal(result.out, "ENOENT\nok\nok\n['comet-test-own', 'comet-test-own.d']\nok\n")
    equal(os.path.exists(own), False, "the run's file on the host")
    clean(result)


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
    const workers = [0, 1].map(() => new Worker(__filename));
    let sum = 0;
    for (const n of await Promise.all(workers.map((w, i) => ask(w)(i)))) sum += n;
    await Promise.all(workers.map((w) => w.terminate()));
    const children = [0, 1].map(() => fork(__filename, ['child']));
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


@variant("tools")
@limit(300)
def test_node_pool(box):
    """node's worker threads and its child processes work."""
    for place in places(box):
        place.file("pool.js", NODE_POOL)
        spotless(place.run(["node", "sh"], "node", "pool.js", timeout=120), "107\n")


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
        result = place.run(["sleep"], "python3", "-c", SIGNALS)
        spotless(result, "-9 -15 -9 -15 -9 -15 -9 -15\n0\nmine\n")
