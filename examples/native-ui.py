#!/usr/bin/env python3
import json, subprocess, sys

runtime = subprocess.Popen(["parlor", "serve", "--dialect", "native", "--stdio"], stdin=-1, stdout=-1, text=True)
def say(**line):
    print(json.dumps(line), file=runtime.stdin, flush=True)

say(hello={"protocol": 1, "name": "mine", "version": "1", "capabilities": ["answers"]})
say(command={"ticket": 1, "what": {"prompt": {"input": {"text": sys.argv[1]}}}})
for text in runtime.stdout:
    line = json.loads(text)
    body = line.get("event", {}).get("event", {}).get("body", {})
    if "message_delta" in body:
        print(body["message_delta"]["text"], end="", flush=True)
    if "ask_opened" in body:
        ask = body["ask_opened"]
        yes = input(ask["title"] + " [y/n] ") == "y"
        answer = {"confirmed": yes} if "confirm" in ask["kind"] else "dismissed"
        if "consent" in ask["kind"]:
            answer = {"allow": {"scope": "once"}} if yes else {"deny": {}}
        say(command={"ticket": 2, "what": {"answer": {"ask": ask["id"], "answer": answer}}})
    if "run_ended" in body or "error" in line:
        break
runtime.stdin.close()
