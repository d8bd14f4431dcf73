"""``python -m react_run`` is the command line."""

from react_run.cli import main

if __name__ == "__main__":
    main()
