# SPDX-License-Identifier: Apache-2.0
"""Is every loss counted and shown when nobody reads the events?"""
import json

from lib import PROBES, check, equal, limit
from life import end_of

VARIANTS = ("faults",)
ENDURE = f"{PROBES}/endure"
TIMES = 6000


def storm(box, fault, *options):
    """As many refusals, no two alike, none of which is folded."""
    return box.run(box.usual(), ENDURE, f"storm {box.path('many')} {TIMES} {TIMES}", fault=fault,
                   options=options, timeout=120)


@limit(300)
def test_reader_stopped(box):
    """With the reader stopped every refusal is refused and counted, and the end tells the loss."""
    for i in range(TIMES):
        box.file(f"many/{i}")
    result = storm(box, "reader-stopped")
    equal((result.out, result.code), (f"{TIMES}\n", 3), "refused, exit code")
    end = end_of(result)
    equal((end["denied"], end["delivered"] + end["folded"] + end["lost"]), (TIMES, TIMES), "counts")
    check(end["lost"] > TIMES / 4, f"{end['lost']} lost: the ring buffer did not fill")
    equal(len(result.violations), end["delivered"], "events")
    words = box.comet("run", box.usual(), "--", ENDURE, f"storm {box.path('many')} {TIMES} {TIMES}",
                      fault="reader-stopped", timeout=120).err
    check("refusals could not be reported as events" in words, f"no word of it: {words[-500:]}")
    answer = json.loads(storm(box, "reader-stopped", "--json").out)
    equal((answer["violations"], answer["audit_truncated"]), (TIMES, True), "violations, truncated")
    equal(len(answer["audit"]) + answer["audit_lost"], TIMES, "told and lost, none folded")


@limit(300)
def test_reader_at_work(box):
    """The same with a reader who reads: what is lost, if anything, and what is told add up."""
    for i in range(300):
        box.file(f"many/{i}")
    done = box.comet("run", "--json", box.usual(), "--", ENDURE, f"storm {box.path('many')} 300 300",
                     fault="")
    answer = json.loads(done.out)
    equal((answer["violations"], answer["audit_lost"], answer["audit_truncated"]),
          (300, 0, False), "violations, lost, truncated")
    equal(len(answer["audit"]), 300, "audit")
