"""The formgrader, served as a teacher's JupyterLab serves it."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager


@contextmanager
def serving(course_folder, config_folder):
    """The address of a Jupyter server with nbgrader's formgrader, started in the course's folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {
        "IdentityProvider.token": "",
        "ServerApp.port": port,
        "ServerApp.root_dir": course_folder.parent,
        "ServerApp.open_browser": False,
        "ServerApp.jpserver_extensions": "nbgrader.server_extensions.formgrader=True",
    }
    command = [sys.executable, "-m", "jupyter_server", "--allow-root"]
    command += [f"--{name}={value}" for name, value in options.items()]
    environment = os.environ | {"JUPYTER_CONFIG_DIR": str(config_folder), "JUPYTER_CONFIG_PATH": ""}
    with (config_folder / "log.txt").open("wb") as log:
        server = subprocess.Popen(command, cwd=course_folder, env=environment, stdout=log, stderr=log)
        try:
            yield reachable(server, f"http://127.0.0.1:{port}", config_folder / "log.txt")
        finally:
            server.terminate()
            server.wait(20)


def reachable(server, address, log):
    """The address, as soon as it answers."""
    for _ in range(600):
        assert server.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(f"{address}/formgrader/api/status", timeout=20).read()
            return address
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise AssertionError(log.read_text())
