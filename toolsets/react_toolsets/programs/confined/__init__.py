"""The code of the launcher for confined programs. It is self-contained, because it is passed on as compiled code.

It imports only small C modules, because every command that is started pays for these imports.
"""
