"""Agents over HTTP: OpenAI's API, live runs, approvals, and the web page (``react-run serve``).

It needs the extra ``serve``; nothing else in react-run imports it.
"""
