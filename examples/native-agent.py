#!/usr/bin/env python3
import itertools, json, os, re, select, subprocess, sys, tempfile, time

SESSION, ids, seqs = "sess-0123456789ab", itertools.count(1), itertools.count(1)
ROOT, ABLE = {"cwd": os.getcwd(), "project": os.getcwd()}, {"name": "agent", "cancel": True, "consent": True}
tip = work = asked = None  # the last message, what is being done, and the question that is open

def say(**line):
    print(json.dumps(line), flush=True)

def happen(**body):
    say(event={"session": SESSION, "event": {"seq": next(seqs), "at": int(time.time() * 1000), "body": body}})

# What takes its time is a generator: at each `yield` it is gone on with, given an answer, or closed because somebody cancelled.
def message(role, words, tool=None, **within):
    global tip
    parent, tip, finish = tip, next(ids), "interrupted"
    happen(message_started={"message": tip, "parent": parent, "role": role, **within})
    try:
        for word in words:
            happen(message_delta={"message": tip, "kind": "text", "text": word})
            yield
        if tool:
            happen(tool_proposed={"tool": next(ids), "message": tip, "name": "bash", "args": tool})
        finish = "complete"
    finally:
        happen(message_ended={"message": tip, "finish": finish})

def command(run, line):
    global asked
    tool, ask, outcome, text = tip + 1, next(ids), "cancelled", ""
    kind = {"tool": tool, "name": "bash", "args": {"command": line}, "preview": {"command": {"line": line}},
            "assessment": {"risk": "medium", "reasons": [], "reversible": False}, "digest": str(tool)}
    try:
        happen(ask_opened={"id": ask, "run": run, "title": f"Run `{line}`?", "kind": {"consent": kind}})
        asked, closing = ask, "withdrawn"
        try:
            answer = yield
            closing = {"answered": {"answer": answer, "by": "ui"}}
        finally:
            asked = None
            happen(ask_closed={"ask": ask, "closing": closing})
        yes = isinstance(answer, dict) and "allow" in answer
        happen(tool_decided={"tool": tool, "decision": {"allowed": yes, "by": {"person": "ui"}, "scope": "once"}})
        if not yes:
            outcome, text = "denied", "denied"
            return
        happen(tool_started={"tool": tool})
        with tempfile.TemporaryFile() as out, subprocess.Popen(line, shell=True, stdin=-3, stdout=out, stderr=out) as shell:
            try:
                while shell.poll() is None:
                    yield
            finally:
                shell.kill()
                out.seek(0)
                text = out.read(100_000).decode(errors="replace")
        outcome = "failed" if shell.returncode else "done"
    finally:
        happen(tool_ended={"tool": tool, "outcome": outcome, "result": {"text": text}})

def answer(ticket, text):
    run, turn, step, outcome = next(ids), next(ids), next(ids), "cancelled"
    say(settled={"ticket": ticket, "with": {"receipt": {"started": {"session": SESSION, "run": run}}}})
    happen(run_started={"run": run})
    happen(turn_started={"run": run, "turn": turn, "cause": "prompt"})
    try:
        yield from message("user", [text], turn=turn)
        happen(step_started={"turn": turn, "step": step})
        try:
            wanted = re.search("run `(.+)`", text)
            words = (f"{number} " for number in range(200)) if "slowly" in text else ["You said: ", text]
            tool = {"command": wanted[1]} if wanted else None
            yield from message("assistant", ["I run it."] if tool else words, tool, turn=turn, step=step)
            if tool:
                yield from command(run, wanted[1])
        finally:
            happen(step_ended={"step": step, "usage": {}})
        outcome = "done"
    finally:
        happen(turn_ended={"turn": turn})
        happen(run_ended={"run": run, "outcome": outcome})

def go_on(answer=None):
    global work
    try:
        work.send(answer)
    except StopIteration:
        work = None

def settle(ticket, what):
    global work
    word, value = what.popitem() if isinstance(what, dict) else (what, {})
    refusal = {"kind": "unsupported", "message": "not here"}
    if word == "prompt" and work:
        refusal = {"kind": "busy", "message": "a run is under way"}
    elif word == "prompt":
        work = answer(ticket, value["input"]["text"])
        return go_on()
    elif word == "cancel" and work:
        say(settled={"ticket": ticket, "with": {"receipt": "done"}})
        work = work.close()
        return
    elif word == "answer" and value["ask"] == asked:
        say(settled={"ticket": ticket, "with": {"receipt": "done"}})
        return go_on(value["answer"])
    elif word == "answer":
        refusal = {"kind": "ask_over", "message": "the question is over"}
    elif word == "cancel":
        refusal = {"kind": "no_run", "message": "no run is under way"}
    say(settled={"ticket": ticket, "with": {"refusal": refusal}})

def hear(text):
    line = {}
    try:
        [(kind, line)] = json.loads(text).items()
        if kind == "hello":
            say(hello={"protocol": 1, "name": "agent", "version": "1", "capabilities": []})
            say(attached={"at": {"session": SESSION, "seq": 0}, "abilities": ABLE, "replay": [[0, {"session_opened": ROOT}]]})
        elif kind == "command":
            settle(line["ticket"], line["what"])
        elif kind == "error":
            print(line["message"], file=sys.stderr)
        else:
            say(error={"about": "line", "message": f"unknown: {kind}"})
    except (ValueError, LookupError, TypeError, AttributeError) as why:
        ticket = line.get("ticket") if isinstance(line, dict) else None
        say(error={"about": "line", "ticket": ticket, "message": repr(why)})

rest = b""
while True:
    busy = work and asked is None
    if select.select([0], [], [], 0.02 if busy else None)[0]:
        heard = os.read(0, 1 << 20)
        if not heard:
            break
        *lines, rest = (rest + heard).split(b"\n")
        for text in filter(bytes.strip, lines):
            hear(text)
    if work and asked is None:
        go_on()
if work:
    work.close()
