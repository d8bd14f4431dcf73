"""The arguments that a model sent: decoded, checked, repaired if nothing is lost, or refused (behaviour A)."""

from react_run.tools.arguments.decoding import decode_arguments as decode_arguments
