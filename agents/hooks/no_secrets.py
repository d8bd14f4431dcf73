"""Refuse calls that name a file with secrets. The event arrives as JSON on standard input."""

import json
import sys

call = json.load(sys.stdin)
if call["hook"] == "tool_permit" and ".env" in json.dumps(call["arguments"]):
    print(json.dumps({"decision": "deny", "reason": "files with secrets are not read"}))
