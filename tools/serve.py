"""Build the book, serve it on localhost, and build it again whenever a source changes."""

import argparse
import functools
import http.server
import subprocess
import sys
import threading
import time
from pathlib import Path

SOURCES = [
    "_config.yml",
    "_toc.yml",
    "*.md",
    "references.bib",
    "_static/*",
    "chapters/**/*.ipynb",
    "chapters/**/*.md",
    "src/**/*",
]
HTML = Path("_build/html")
JUPYTER_BOOK = (  # its module does nothing when python -m runs it
    "from jupyter_book.cli.main import main; main()"
)


def snapshot():
    """Return the time of the last change of every source."""
    return {
        path: path.stat().st_mtime_ns
        for pattern in SOURCES
        for path in Path().glob(pattern)
        if path.suffix != ".pyc"
    }


def build():
    """Build what has changed. A warning or an error is shown and does not stop the server."""
    subprocess.run([sys.executable, "-c", JUPYTER_BOOK, "build", "-n", "-q", "."])


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files without a line for each request."""

    def log_message(self, *args):
        pass


def open_port(port):
    """Return a server of _build/html on localhost, or end with the reason why the port cannot be had."""
    try:
        return http.server.ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Quiet, directory=HTML))
    except (OSError, OverflowError) as error:
        sys.exit(f"Port {port} cannot be used ({error}). Name another: make serve PORT=8001")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000, help="0 takes any that is free")
    server = open_port(parser.parse_args().port)
    seen = snapshot()
    build()
    if not (HTML / "index.html").exists():
        sys.exit("The book could not be built.")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(
        f"The book is at http://localhost:{server.server_port} and is built again on change. Stop with"
        " Ctrl-C.",
        flush=True,
    )
    while True:
        time.sleep(1)
        now = snapshot()
        if now != seen:
            seen = now
            build()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
