"""Refuses calls that name a file with secrets; told what happens as JSON on its standard input."""

import json
import sys

call = json.load(sys.stdin)
if call["hook"] == "tool_permit" and ".env" in json.dumps(call["arguments"]):
    print(json.dumps({"decision": "deny", "reason": "files with secrets are not read"}))
