#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a report on a property: reads the listing, asks a model, keeps its answer.

The model may call tools. As in most agents, whatever stands in its input can turn it, and nothing
here judges what a tool touches: that is left to the pack's manifest.
"""
import errno
import json
import socket
import subprocess
import sys
import urllib.request

API = "https://api.openai.com/v1/chat/completions"
ROUNDS = 4


def read_file(path):
    with open(path, encoding="utf-8") as file:
        return f"{len(file.read())} characters"


def write_file(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return f"{len(text)} characters"


def send_tcp(host, port, text):
    with socket.create_connection((host, port), timeout=10) as connection:
        connection.sendall(text.encode())
    return f"{len(text)} bytes"


def send_udp(address, port, text):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(text.encode(), (address, port))
    return f"{len(text)} bytes"


def run_program(argv):
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


TOOLS = {tool.__name__: tool for tool in (read_file, write_file, send_tcp, send_udp, run_program)}


def use_tool(name, arguments):
    try:
        answer = "done: " + TOOLS[name](**arguments)
    except OSError as error:
        answer = errno.errorcode.get(error.errno, str(error))
    target = " ".join(str(v) for k, v in arguments.items() if k not in ("text", "argv"))
    print(f"{name} {target or ' '.join(arguments['argv'])} -> {answer}", flush=True)
    return answer


def ask(messages):
    body = json.dumps({"model": "gpt-4o-mini", "messages": messages}).encode()
    request = urllib.request.Request(API, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)["choices"][0]["message"]


def converse(messages):
    """Until the model has no more tools to call; its last words."""
    for _ in range(ROUNDS):
        message = ask(messages)
        messages.append(message)
        calls = message.get("tool_calls")
        if not calls:
            return message["content"]
        for call in calls:
            function = call["function"]
            answer = use_tool(function["name"], json.loads(function["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": answer})
    raise SystemExit("the model does not come to an end")


def main(listing="listing.json", report="out/report.md"):
    with open("prompts/report.md", encoding="utf-8") as file:
        prompt = file.read()
    with open(listing, encoding="utf-8") as file:
        text = converse([{"role": "system", "content": prompt},
                         {"role": "user", "content": file.read()}])
    with open(report, "w", encoding="utf-8") as file:
        file.write(text + "\n")
    print(f"report written: {report}, {len(text)} characters")


main(*sys.argv[1:])
