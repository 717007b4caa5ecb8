"""make serve: the book is built, served, and built again on change."""

import re
import socket
import subprocess
import sys
import time
from urllib.request import urlopen

import pytest
from project import ROOT

SERVE = [sys.executable, str(ROOT / "tools/serve.py"), "--port"]


@pytest.fixture
def book(tmp_path):
    """A book of one page."""
    (tmp_path / "_config.yml").write_text("title: Test\nonly_build_toc_files: true\n")
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: index\n")
    (tmp_path / "index.md").write_text("# First\n")
    return tmp_path


def test_the_book_is_built_and_built_again_on_change(book):
    server = subprocess.Popen([*SERVE, "0"], cwd=book, stdout=subprocess.PIPE, text=True)
    try:
        address = next(
            found[0] for line in server.stdout if (found := re.search(r"http://localhost:\d+", line))
        )
        assert "<h1>First" in urlopen(f"{address}/index.html").read().decode()
        (book / "index.md").write_text("# Second\n")
        for _ in range(1200):  # ten minutes, of which a quiet machine takes seconds
            if "<h1>Second" in urlopen(f"{address}/index.html").read().decode():
                break
            time.sleep(0.5)
        else:
            pytest.fail("the change is not on the page")
    finally:
        server.kill()
        server.communicate()


def test_a_book_that_cannot_be_built_is_not_announced(book):
    (book / "_toc.yml").write_text("format: jb-book\n")
    done = subprocess.run([*SERVE, "0"], cwd=book, capture_output=True, text=True)
    assert (
        done.returncode == 1
        and "The book could not be built." in done.stderr
        and "localhost" not in done.stdout
    )


def test_a_port_that_is_taken_is_named(book):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run([*SERVE, str(port)], cwd=book, capture_output=True, text=True)
    assert done.returncode == 1 and re.fullmatch(
        rf"Port {port} cannot be used \(.*\)\. Name another: make serve PORT=8001\n", done.stderr
    )
