#!/usr/bin/env python3
"""An agent on the asst wire: one JSON object per line, requests on stdin, answers on stdout. Logs belong on stderr."""
import json, sys, time


def answer(prompt):
    """What your agent says, piece by piece. This is the part that is yours."""
    yield "You said: "
    yield prompt


def say(**line):
    print(json.dumps({**line, "timestamp": int(time.time() * 1000)}), flush=True)


say(type="ready", version="1.0.0", capabilities=["streaming"])
for line in sys.stdin.buffer:
    try:
        request = json.loads(line)
        kind, id = request["kind"], request["id"]
    except (ValueError, TypeError, KeyError):
        if line.strip():
            say(type="error", id="", error="not a request")
        continue
    if kind == "user_message" and isinstance(request.get("message"), str):
        for token in answer(request["message"]):
            say(type="token", id=id, token=token)
        say(type="done", id=id)
    elif kind == "get_status":
        say(type="status", id=id, data={"state": "idle", "conversationLength": 0, "uptime": 0})
    elif kind == "clear_history":
        say(type="done", id=id)
    else:
        say(type="error", id=id, error=f"not understood: {kind}")
