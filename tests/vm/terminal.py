# SPDX-License-Identifier: Apache-2.0
"""How does a test sit at a terminal?"""
import os
import pty
import select
import time

from lib import check


class Terminal:
    """A command on a terminal of its own: what is typed, and what appears."""

    def __init__(self, *command):
        self.seen = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp(command[0], command)

    def type(self, text):
        os.write(self.fd, text.encode())

    def expect(self, text, seconds=30):
        """Until text appears; returns what came before it."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            left = end - time.monotonic()
            ready = left > 0 and select.select([self.fd], [], [], left)[0]
            check(ready, f"{text!r} did not appear in {self.seen!r}")
            try:
                self.seen += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                check(False, f"the terminal was closed before {text!r}: {self.seen!r}")
        before, _, self.seen = self.seen.partition(text)
        return before

    def close(self):
        try:
            os.kill(self.pid, 9)
        except ProcessLookupError:
            pass
        os.close(self.fd)
        os.waitpid(self.pid, 0)
