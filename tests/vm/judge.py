# SPDX-License-Identifier: Apache-2.0
"""Is one cell of the coverage table closed, and how? See coverage.py for what a cell is."""

# Where a packet is dropped, UDP is told at once; TCP waits for an answer, if it waits at all.
DROPPED = ("EPERM", "success", "ETIMEDOUT", "EINPROGRESS")


def said(events):
    return "; ".join(f"{e['surface']} {e['op']} {e['errno']} {e['requested']}" for e in events)


def wrong_event(row, event, answers, names):
    """Why it is not the event that the row expects, or nothing."""
    for key, wanted in (("surface", row.surface), ("op", row.op)):
        if wanted and event[key] != wanted:
            return f"event has {key} {event[key]}, expected {wanted}"
    if event["errno"] not in answers:
        return f"event has errno {event['errno']}"
    if event["severity"] != "violation" and "quiet" not in row.flags:
        return f"event has severity {event['severity']}"
    if names and "any-name" not in row.flags and event["requested"] != names:
        return f"event names {event['requested']}, expected {names}"
    return None


def judge_packets(row, answer, events, harmed):
    if harmed != ("own-copy" in row.flags):
        return None, f"{answer}, and {'it arrived' if harmed else 'no copy of it came'} outside"
    if events:
        return None, f"{answer}, and the hooks were there: {said(events)}"
    if answer not in DROPPED:
        return None, f"{answer}, expected {' or '.join(DROPPED)}"
    return "own copy" if harmed else "packets", None


def judge_audit(row, answer, harmed):
    """What is done to a declared place is seen; is it seen as well where it must not be done?"""
    if "changes" in row.flags and "unseen" not in row.flags and not harmed:
        return None, f"{answer}, and nothing would have been seen of it"
    return "audit", None


def judge(row, persona, side, tried):
    """(how it was closed, None) or (None, why it is open)."""
    label = row.label(side)
    answer = tried.answers.get(label)
    events = tried.events[label]
    harmed = tried.effects.get(label)
    inside = "twin-inside" in row.flags and (side == "declared" or "leaks" in row.flags)
    if inside and persona == "hooks":
        return "untried", None
    if label in tried.broken or answer is None:
        return None, f"could not be tried: {tried.broken.get(label, 'nothing was said')}"
    if row.absent() and answer == "ENOSYS" and not events:
        return "absent", None
    walled = persona != "hooks" and answer in row.walled and not events
    if side == "declared":
        if walled and "twin-walled" in row.flags:
            return "wall", None
        if answer != "success" or events:
            return None, f"twin: {answer}, {len(events)} events {said(events)}"
        if "changes" in row.flags and not harmed:
            return None, "twin: success, but nothing is seen of it from outside"
        return "success", None
    if tried.audit:
        return judge_audit(row, answer, harmed)
    if persona == "packets":
        return judge_packets(row, answer, events, harmed)
    answers = row.answers[side]
    if harmed:
        return None, f"{answer}, and it has an effect outside"
    if walled:
        return "wall", None
    if row.filtered() and answer == "EPERM" and not events:
        return "silent", None
    if answer not in answers:
        return None, f"{answer}, expected {' or '.join(answers)}; {said(events)}"
    if row.flags & {"no-event", "leaks"}:
        if events:
            return None, f"{answer}, and an event where none is expected: {said(events)}"
        return "leak" if "leaks" in row.flags else "silent", None
    told = [event for event in events if not row.also or event["op"] != row.also]
    if not told:
        return None, f"{answer}, but no event; {said(events)}"
    for event in told:
        if wrong := wrong_event(row, event, answers, tried.names.get(label)):
            return None, f"{answer}, but {wrong} ({said(events)})"
    return "hook", None
