"""What a run of the tests shows: a line that tells what runs, and how to run again what has failed.

Loaded by `make test` (pytest -p progress).
"""

import os
import sys
import time

import pytest

STEP = 0.1  # where the output is kept in a file, a line is written each time this share more is done


class Progress:
    """How many tests are done, of how many, and which one began last."""

    def __init__(self, config):
        self.terminal = config.pluginmanager.getplugin("terminalreporter")
        self.terminal.showfspath = False
        self.total = self.done = self.failed = 0
        self.start = self.drawn = time.monotonic()
        self.share = STEP

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_report_teststatus(self, report):
        category, _, word = yield  # no dot: the line tells
        return category, "", word

    def pytest_xdist_node_collection_finished(self, ids):
        self.total = len(ids)

    def pytest_collection_finish(self, session):
        self.total = self.total or len(session.items)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logstart(self, nodeid):
        self.show(nodeid)

    def pytest_runtest_logreport(self, report):
        self.failed += report.failed
        if report.when == "teardown":
            self.done += 1
        if report.failed:
            self.say(f"FAILED {report.nodeid}")

    def pytest_sessionfinish(self):
        self.say("")

    def line(self, nodeid):
        minutes, seconds = divmod(round(time.monotonic() - self.start), 60)
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{minutes}:{seconds:02d}  {self.done} of {self.total}{failed}  {nodeid}"

    def show(self, nodeid):
        if self.terminal.isatty:
            width = os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__.isatty() else 80
            self.terminal.write("\r" + self.line(nodeid)[: width - 1] + "\x1b[K", flush=True)
        elif self.total and self.done >= self.share * self.total:
            self.share += STEP
            self.say(self.line(nodeid))

    def say(self, text):
        """A line that stays."""
        if self.terminal.isatty:
            self.terminal.write("\r\x1b[K")
        if text:
            self.terminal.write_line(text)


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    if not hasattr(config, "workerinput") and config.pluginmanager.hasplugin("terminalreporter"):
        config.pluginmanager.register(Progress(config))


def pytest_terminal_summary(terminalreporter):
    failed = [
        report.nodeid
        for category in ("failed", "error")
        for report in terminalreporter.stats.get(category, [])
    ]
    if failed:
        python = os.path.relpath(sys.executable)
        terminalreporter.section("what to do next")
        terminalreporter.write_line(f"The first of these again, alone: {python} -m pytest '{failed[0]}'")
        terminalreporter.write_line(f"All that failed, again:          {python} -m pytest --last-failed")
