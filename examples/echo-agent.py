#!/usr/bin/env python3
import json, sys, time

def say(**line):
    line["timestamp"] = int(time.time() * 1000)
    print(json.dumps(line), flush=True)

say(type="ready", version="1.0.0", capabilities=["streaming"])
for text in sys.stdin.buffer:
    try:
        ask = json.loads(text)
        kind, id = ask["kind"], ask["id"]
    except (ValueError, TypeError, KeyError):
        if text.strip():
            say(type="error", id="", error="not a request")
        continue
    if kind == "user_message":
        for word in ["You", " said: ", ask.get("message", "")]:
            say(type="token", id=id, token=word)
        say(type="done", id=id)
    elif kind == "get_status":
        say(type="status", id=id, data={"state": "idle", "conversationLength": 0, "uptime": 0})
    elif kind == "clear_history":
        say(type="done", id=id)
    else:
        say(type="error", id=id, error=f"unknown kind: {kind}")
