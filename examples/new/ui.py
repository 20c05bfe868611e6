#!/usr/bin/env python3
"""A UI on the codelia wire: ui.py PROMPT [RUNTIME...]. It starts the runtime and speaks JSON-RPC with it, one object per line."""
import json, subprocess, sys

command = sys.argv[2:] or ["parlor", "serve", "--dialect", "codelia", "--stdio"]
runtime = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def say(**line):
    runtime.stdin.write(json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n")
    runtime.stdin.flush()


def goes_on(id=None, method=None, params=None, error=None, **_):
    """Shows a line of the runtime, answers it if it is a question, and tells whether the run goes on."""
    if method == "agent.event" and params["event"]["type"] in ("text", "final"):
        print(params["event"]["content"])
    elif method == "agent.event" and params["event"]["type"] == "tool_call":
        print("·", params["event"]["tool"], json.dumps(params["event"]["args"]))
    elif method == "ui.confirm.request":
        question = f"{params['title']}\n{params['message']}\n[y/n] "
        yes = sys.stdin.isatty() and input(question) == "y"  # Where nobody sits, nothing is allowed.
        say(id=id, result={"ok": yes, "remember": False})
    elif method == "run.status" and params["status"] in ("completed", "cancelled", "error") or error:
        return print(error or params.get("message") or "")
    return True


who, can = {"name": "mine", "version": "1"}, {"supports_confirm": True}
say(id="1", method="initialize", params={"protocol_version": "0", "client": who, "ui_capabilities": can})
say(id="2", method="run.start", params={"input": {"type": "text", "text": sys.argv[1]}})
for line in runtime.stdout:
    try:
        if not goes_on(**json.loads(line)):
            break
    except (ValueError, LookupError, TypeError):
        print("not understood:", line[:80], file=sys.stderr)
