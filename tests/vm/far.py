# SPDX-License-Identifier: Apache-2.0
"""What reaches a host behind an interface of its own? Another network namespace, by a veth pair."""
import socket
import subprocess

from lib import equal

# Listens for TCP and UDP by IPv6 at the address, if there is one, and sees every packet.
FAR_END = """
import os, socket, struct, sys, threading
address, port = sys.argv[1], int(sys.argv[2])
zone = socket.if_nametoindex("far")
tcp = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
tcp.bind((address, port, 0, zone))
tcp.listen(8)
udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
udp.bind((address, port, 0, zone))
def say(text):
    os.write(1, text.encode() + b"\\n")
def connections():
    while True:
        tcp.accept()
        say("tcp")
def datagrams():
    while udp.recv(100):
        say("udp")
for f in connections, datagrams:
    threading.Thread(target=f, daemon=True).start()
wire = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
wire.bind(("far", 3))
say("ready")
while True:
    data, (_, protocol, direction, *_) = wire.recvfrom(2000)
    if direction == socket.PACKET_OUTGOING:
        continue
    if protocol == 0x0800:
        say("packet " + socket.inet_ntop(socket.AF_INET, data[16:20]) + f" {data[9]}")
    elif protocol == 0x86dd:
        say("packet " + socket.inet_ntop(socket.AF_INET6, data[24:40]) + f" {data[6]}")
"""


class FarEnd:
    """Interface `name`, and behind it a host with the IPv6 address. .end(): what arrived there, "tcp",
    "udp" (at its port), or "packet ADDRESS PROTOCOL" for each packet on the wire."""

    def __init__(self, box, name, address, port):
        def ip(*command, undo=None):
            subprocess.run(["ip", *command], check=True)
            if undo:
                box.closers.append(lambda: subprocess.run(["ip", *undo], check=False,
                                                          stderr=subprocess.DEVNULL))

        ip("netns", "add", name, undo=["netns", "del", name])
        ip("link", "add", name, "type", "veth", "peer", "name", "far", "netns", name,
           undo=["link", "del", name])
        ip("link", "set", name, "up")
        ip("-n", name, "link", "set", "far", "up")
        ip("-n", name, "addr", "add", f"{address}/64", "dev", "far", "nodad")
        self.zone = socket.if_nametoindex(name)
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", name, "/usr/bin/python3", "-c", FAR_END, address, str(port)],
            stdout=subprocess.PIPE, text=True)
        box.closers.insert(0, self.process.kill)
        equal(self.process.stdout.readline(), "ready\n", "the far end")

    def end(self):
        self.process.kill()
        return self.process.communicate()[0].splitlines()
