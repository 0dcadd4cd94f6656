# SPDX-License-Identifier: Apache-2.0
"""Do ordinary programs work under a manifest that grants them little?"""
import http.server
import os
import socket
import ssl
import stat
import subprocess
import threading

from lib import PROBES, PYTHON, add_hosts, check, clean, equal, limit, unchanged, violated

AVAIL = f"{PROBES}/avail"


def spotless(result, out=None):
    """Exit 0, nothing refused, and no complaint either."""
    clean(result)
    equal(result.err, "", "standard error")
    if out is not None:
        equal(result.out, out, "standard output")


def least(box):
    """A manifest that grants nothing but what everybody gets."""
    return box.pack(name="least")


def test_shell(box):
    """sh -c true runs under the least manifest, as root and as an ordinary user."""
    for user in "root", "agent":
        spotless(box.run(least(box), "sh", "-c", "true", options=["--user", user]), "")


def test_login_shell(box):
    """bash -lc true reads the profile of its user, or does without, and complains of nothing."""
    for user in "root", "agent":
        spotless(box.run(least(box), "bash", "-lc", "true", options=["--user", user]), "")


def test_python(box):
    """python3 -c pass runs under the least manifest."""
    spotless(box.run(least(box), "python3", "-c", "pass", options=["--user", "agent"]), "")


def test_python_libraries(box):
    """Python finds its own modules and the libraries that they need."""
    spotless(box.run(least(box), "python3", "-c", "import ssl, sqlite3, json; print('there')"),
             "there\n")


def test_node(box):
    """node -e 0 runs under the least manifest."""
    spotless(box.run(least(box), "node", "-e", "0"), "")


def test_git(box):
    """git --version runs under the least manifest."""
    result = box.run(least(box), "git", "--version", options=["--user", "agent"])
    spotless(result)
    check(result.out.startswith("git version "), result.out)


def test_null_device(box):
    """Redirections from and to /dev/null work."""
    pack = box.usual(programs=["ls"])
    result = box.run(pack, "sh", "-c", "ls >/dev/null 2>&1 </dev/null && ls",
                     options=["--workdir", box.r])
    spotless(result, "d\nf\n")


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"page\n")

    def log_message(self, *_):
        pass


def serve(box, address, wrap=lambda s: s):
    """A web server; returns its port."""
    server = http.server.ThreadingHTTPServer((address, 0), Page)
    server.socket = wrap(server.socket)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    box.closers.append(server.shutdown)
    return server.server_address[1]


def test_curl(box):
    """curl fetches over TLS from the declared host, and from no other."""
    key, certificate = box.path("key"), box.path("R/ca.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", certificate,
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
                   check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    port, other = (serve(box, "127.0.0.1", lambda s: context.wrap_socket(s, server_side=True))
                   for _ in range(2))
    pack = box.pack(read=[box.r], egress=[("localhost", port, "https")], name="curl")
    command = ["curl", "-sS", "--cacert", certificate]
    result = box.run(pack, *command, f"https://localhost:{port}/", options=["--user", "agent"])
    spotless(result, "page\n")
    result = box.run(pack, *command, f"https://localhost:{other}/", options=["--user", "agent"])
    equal(result.out, "", "what was fetched")
    equal({v["surface"] for v in result.violations}, {"egress"}, "surface")
    check(f"127.0.0.1:{other}/tcp" in [v["requested"] for v in result.violations], "address")


def test_address_sorting(box):
    """libc tries undeclared addresses of a name by UDP to sort them: that is no violation."""
    add_hosts(box, "".join(f"127.0.9.{i} six.test\n" for i in range(1, 7))
              + "".join(f"127.0.9.{i} three.test\n" for i in range(1, 4)))
    port = serve(box, "0.0.0.0")
    pack = box.pack(egress=[("three.test", port, "http")], name="names")
    spotless(box.run(pack, "curl", "-sS", f"http://six.test:{port}/"), "page\n")
    spotless(box.run(pack, "curl", "-sS", f"http://three.test:{port}/"), "page\n")
    result = box.run(pack, "curl", "-sS", f"http://127.0.9.4:{port}/")
    violated(result, ("egress", f"127.0.9.4:{port}/tcp"))


def test_happy_eyeballs(box):
    """A name with an IPv6 address where nobody is gets its page by IPv4, 50 times, without an
    event; and a pattern, which no name can be looked up for, opens nothing."""
    add_hosts(box, "fd00:dead::1 both.test\n127.0.9.1 both.test\n127.0.9.2 a.wild.test\n")
    port = serve(box, "0.0.0.0")
    pack = box.pack(egress=[("both.test", port, "http")], programs=["curl"], name="both")
    code = f"curl -sS --max-time 5 http://both.test:{port}/\n" * 50
    spotless(box.run(pack, "/bin/sh", "-c", code, timeout=110), "page\n" * 50)
    pack = box.pack(egress=[("*.wild.test", port, "http"), ("both.test", port, "http")],
                    name="wild")
    violated(box.run(pack, "curl", "-sS", f"http://a.wild.test:{port}/"),
             ("egress", f"127.0.9.2:{port}/tcp"))


def test_own_processes_under_proc(box):
    """A process, its threads and its children read what /proc/self tells."""
    spotless(box.run(least(box), AVAIL, "self", options=["--user", "agent"]), "ok+ok+ok\n")


def test_network_interfaces(box):
    """The interfaces of the host can be listed, by libc, Python and node."""
    spotless(box.run(least(box), AVAIL, "interfaces", options=["--user", "agent"]), "ok\n")
    spotless(box.run(least(box), PYTHON, "-c",
                     "import socket; print('lo' in dict(map(reversed, socket.if_nameindex())))"),
             "True\n")
    spotless(box.run(least(box), "node", "-e",
                     "console.log('lo' in require('os').networkInterfaces())"), "true\n")


def test_saving_by_rename(box):
    """In W files are replaced, moved between directories and exchanged, as editors do it."""
    for name in "text", "new", "a/file", "one", "two":
        box.file(f"W/{name}", f"{name} old\n")
    box.dir("W/b")
    steps = [f"rename {box.w}/text {box.w}/text~", f"rename {box.w}/new {box.w}/text",
             f"exchange {box.w}/one {box.w}/two", f"rename {box.w}/a/file {box.w}/b/file",
             f"rename {box.w}/b {box.w}/a/b"]
    spotless(box.run(box.usual(), AVAIL, *steps), "ok\n" * len(steps))
    unchanged(box.path("W/text"), "new old\n")
    unchanged(box.path("W/text~"), "text old\n")
    unchanged(box.path("W/one"), "two old\n")
    unchanged(box.path("W/two"), "one old\n")
    unchanged(box.path("W/a/b/file"), "a/file old\n")
    result = box.run(box.usual(programs=["sed", "mv", "cp"], name="shell"), "sh", "-c",
                     "sed -i s/old/edited/ text && cp text a/copy && mv a/copy a/b/moved",
                     options=["--workdir", box.w])
    spotless(result, "")
    unchanged(box.path("W/text"), "new edited\n")
    unchanged(box.path("W/a/b/moved"), "new edited\n")


def test_paths_through_links_and_missing_paths(box):
    """A missing path is warned of and does no harm; paths with links and spaces work."""
    box.file("real/sub/f", "through a link\n")
    box.file("with space/f", "with a space\n")
    os.symlink(box.path("real"), box.path("link"))
    os.symlink(box.path("nowhere"), box.path("dangling"))
    pack = box.pack(read=[box.path(p) for p in ("link/sub", "dangling", "missing", "with space")],
                    write=[box.path("to-be-made")], programs=["cat", "mkdir"])
    # Warnings are words for people: no events asked for.
    result = box.comet("run", pack, "--", "/bin/cat", box.path("link/sub/f"),
                       box.path("with space/f"))
    equal(result.code, 0, "exit code")
    equal(result.out, "through a link\nwith a space\n", "standard output")
    warned = [line for line in result.err.splitlines() if "warning" in line]
    for name in "dangling", "missing", "to-be-made":
        equal(len([w for w in warned if f"/{name} " in w]), 1, f"warnings of {name}")
    equal(len(warned), 3, "warnings")
    clean(box.run(pack, "sh", "-c", 'mkdir "$0" && echo made > "$0/f"', box.path("to-be-made")))
    unchanged(box.path("to-be-made/f"), "made\n")


def test_entries_of_every_kind(box):
    """A file, a link to one, a directory, a device and a socket may stand in a manifest."""
    box.file("file", "a file\n")
    box.file("target", "a target\n")
    os.symlink(box.path("target"), box.path("link"))
    box.file("dir/f", "in a directory\n")
    os.mknod(box.path("device"), stat.S_IFCHR | 0o666, os.makedev(1, 7))
    stream = box.listen_unix(socket.SOCK_STREAM, box.path("socket"))
    pack = box.pack(read=[box.path(p) for p in ("file", "link", "dir")],
                    write=[box.path("device"), box.path("socket")],
                    programs=["cat", f"{PROBES}/unix"])
    script = f'''cd {box.root}
        cat file link dir/f
        (echo into > device) 2>&1 | cat
        {PROBES}/unix "connect {box.path("socket")}"'''
    result = box.run(pack, "sh", "-c", script)
    check("I/O error" in result.out.splitlines()[3], "the device, another /dev/full, was not full")
    equal([w for i, w in enumerate(result.out.splitlines()) if i != 3],
          ["a file", "a target", "in a directory", "ok"], "answers")
    clean(result)
    check(b"connection" in stream.settled(), "the socket was not reached")
    result = box.run(box.pack(name="none", programs=["cat"]), "sh", "-c",
                     f"cd {box.root}; cat file; cat link; cat dir/f; echo into > device")
    equal(result.out, "", "standard output")
    violated(result, *[("fs.read", box.path(p)) for p in ("file", "target", "dir/f")],
             ("fs.write", box.path("device")))


@limit(300)
def test_many_spawns_at_once(box):
    """Programs start from eight threads at once, 1,600 in all, and none fails."""
    result = box.run(box.usual(programs=[AVAIL]), AVAIL, f"spawn 8 200 {AVAIL}", timeout=200)
    clean(result)
    equal(result.out, "ok\n", "starts that failed")
