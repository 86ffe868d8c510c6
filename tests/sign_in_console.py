#!/usr/bin/env python3
"""Approves a draft through a console as alice, and waits until the daemon has taken the signature. An
SSH key signs in place of a passkey; the rest is what the script of the page sends.

Must never: sign for a console that is in use.

    tests/sign_in_console.py ORIGIN REQUEST KEY
"""
import json
import subprocess
import sys
import time
import urllib.request

origin, request, key = sys.argv[1:]


def ask(path, body=None):
    headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(origin + path, data, headers)) as answer:
        return json.load(answer)


prepared = ask("/prepare", {"action": "approve", "ids": [request], "by": "alice"})
words = ["ssh-keygen", "-Y", "sign", "-f", key, "-n", prepared["namespace"]]
signed = subprocess.run(words, input=prepared["text"].encode(), stdout=subprocess.PIPE, check=True)
action = {"prepared": prepared["header"], "signature": signed.stdout.decode()}
ticket = ask("/actions", action)["ticket"]
while "taken" not in (answer := ask(f"/actions/{ticket}")):
    time.sleep(0.1)
assert answer["taken"], answer
