"""Agents over HTTP: OpenAI's API, runs that can be watched, approvals, and the page (``react-run serve``).

It needs the extra ``serve``; no other part of react-run imports it.
"""
