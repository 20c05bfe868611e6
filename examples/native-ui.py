#!/usr/bin/env python3
import json, subprocess, sys

command = sys.argv[2:] or ["parlor", "serve", "--dialect", "native", "--stdio"]
runtime = subprocess.Popen(command, stdin=-1, stdout=-1, encoding="utf-8", errors="replace")
def say(**line):
    print(json.dumps(line), file=runtime.stdin, flush=True)

say(hello={"protocol": 1, "name": "mine", "version": "1", "capabilities": ["answers"]})
say(command={"ticket": 1, "what": {"prompt": {"input": {"text": sys.argv[1]}}}})
for text in runtime.stdout:
    try:
        [(kind, line)] = json.loads(text).items()
    except (ValueError, AttributeError):
        continue
    body = line["event"]["body"] if kind == "event" else {}
    if "message_delta" in body:
        print(body["message_delta"]["text"], end="", flush=True)
    if "ask_opened" in body:
        ask = body["ask_opened"]
        yes = input(ask["title"] + " [y/n] ") == "y"
        answer = {"confirmed": yes} if "confirm" in ask["kind"] else "dismissed"
        if "consent" in ask["kind"]:
            answer = {"allow": {"scope": "once"}} if yes else {"deny": {}}
        say(command={"ticket": 2, "what": {"answer": {"ask": ask["id"], "answer": answer}}})
    if "run_ended" in body or kind == "error":
        break
runtime.stdin.close()
