"""``python -m plainformer``: the command line, see ``pretrained.command_line``."""

import sys

from plainformer.pretrained.command_line import main

if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a console may lack a character
    sys.exit(main())
