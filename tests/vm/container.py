# SPDX-License-Identifier: Apache-2.0
"""Who runs under isolation container in the tests, and how?"""
import os

# Who the agent is, the options for it, its home.
PERSONAS = (("root", (), "/root"), ("agent", ("--user", "agent"), "/home/agent"))
CONTAINER = ("--isolation", "container")


def contained(box, **more):
    """The usual pack, which asks for the container."""
    os.chown(box.w, 1000, 1000)
    return box.usual(isolation="container", **more)
