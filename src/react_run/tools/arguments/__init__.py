"""What a model sent as arguments: decoded, checked, repaired where nothing is lost, or refused (behaviour A)."""

from react_run.tools.arguments.decoding import decode_arguments as decode_arguments
