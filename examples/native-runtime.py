#!/usr/bin/env python3
import itertools, json, sys, time

SESSION, ids, seqs, tip = "sess-0123456789ab", itertools.count(1), itertools.count(1), None
ROOT, ABLE = {"cwd": "/", "project": "/"}, {"name": "echo", "cancel": False}

def say(**line):
    print(json.dumps(line), flush=True)

def happen(**body):
    say(event={"session": SESSION, "event": {"seq": next(seqs), "at": int(time.time() * 1000), "body": body}})

def message(role, text, **within):
    global tip
    parent, tip = tip, next(ids)
    happen(message_started={"message": tip, "parent": parent, "role": role, **within})
    happen(message_delta={"message": tip, "kind": "text", "text": text})
    happen(message_ended={"message": tip, "finish": "complete"})

def answer(ticket, text):
    run, turn, step = next(ids), next(ids), next(ids)
    say(settled={"ticket": ticket, "with": {"receipt": {"started": {"session": SESSION, "run": run}}}})
    happen(run_started={"run": run})
    happen(turn_started={"run": run, "turn": turn, "cause": "prompt"})
    message("user", text, turn=turn)
    happen(step_started={"turn": turn, "step": step})
    message("assistant", "You said: " + text, turn=turn, step=step)
    happen(step_ended={"step": step, "usage": {}})
    happen(turn_ended={"turn": turn})
    happen(run_ended={"run": run, "outcome": "done"})

for text in filter(str.strip, sys.stdin):
    line = {}
    try:
        [(kind, line)] = json.loads(text).items()
        if kind == "hello":
            say(hello={"protocol": 1, "name": "echo", "version": "1", "capabilities": []})
            say(attached={"at": {"session": SESSION, "seq": 0}, "abilities": ABLE, "replay": [[0, {"session_opened": ROOT}]]})
        elif kind == "command" and "prompt" in line["what"]:
            answer(line["ticket"], line["what"]["prompt"]["input"]["text"])
        elif kind == "command":
            say(settled={"ticket": line["ticket"], "with": {"refusal": {"kind": "unsupported", "message": "not here"}}})
        elif kind == "error":
            print(line["message"], file=sys.stderr)
        else:
            say(error={"about": "line", "message": f"unknown: {kind}"})
    except (ValueError, LookupError, TypeError, AttributeError) as why:
        ticket = line.get("ticket") if isinstance(line, dict) else None
        say(error={"about": "line", "ticket": ticket, "message": repr(why)})
