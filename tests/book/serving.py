"""The built book on a server: a page from a folder may not read others, nor load anything in a sandbox."""

import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a line for each request."""

    def log_message(self, *args):
        pass


@contextmanager
def serving(folder):
    """Serve a folder on this machine and yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
