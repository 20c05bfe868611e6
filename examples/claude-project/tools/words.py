#!/usr/bin/env python3
"""An MCP server with one tool: JSON-RPC on stdin and stdout, one object per line. Logs belong on stderr."""
import json, sys

TOOL = {
    "name": "count_words",
    "description": "Counts the words of a text.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


def answer(method, params):
    if method == "initialize":
        can = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}}
        return {**can, "serverInfo": {"name": "words", "version": "1"}}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        count = len(params["arguments"]["text"].split())
        return {"content": [{"type": "text", "text": f"{count} words"}]}
    return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request["method"], request.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
