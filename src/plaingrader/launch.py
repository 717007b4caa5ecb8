"""Set the limits of this process, then become the command:  python launch.py MEMORY CPU_SECONDS FILE_SIZE
COMMAND …

Run as a file, so that it imports nothing of the course.
"""

import os
import sys

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None


def limit(memory, seconds, size):
    """Bytes of address space, seconds of processor time, bytes of one file."""
    for name, value in (("AS", memory), ("CPU", seconds), ("FSIZE", size), ("CORE", 0), ("NPROC", 4096)):
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:
            continue
        _, hard = resource.getrlimit(kind)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(kind, (value, value))
        except (OSError, ValueError):  # macOS refuses some of them
            pass


if __name__ == "__main__":
    if resource:
        limit(*map(int, sys.argv[1:4]))
    os.execvp(sys.argv[4], sys.argv[4:])
