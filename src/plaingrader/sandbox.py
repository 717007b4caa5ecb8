"""The box that a student's code runs in: a throw-away folder, limits, and, with bubblewrap, no network and
nothing else to write to.

bubblewrap (https://github.com/containers/bubblewrap) is Linux's unprivileged sandbox, the one under Flatpak.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from jupyter_client.manager import AsyncKernelManager
from traitlets import Integer, Unicode

from . import submission

LAUNCH = Path(__file__).with_name("launch.py")
SCRATCH = 200_000_000  # bytes of /tmp in the box
KEPT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TZ")  # of the grader's environment, which may hold secrets


# Of the system, what programs need to run. Nothing else of the machine is there: no home, no course, no other
# submission.
SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/group",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/passwd",
    "/etc/ssl",
)


@cache
def isolation():
    """How far the box reaches here: "full" with bubblewrap, else "limits": time and memory alone."""
    if shutil.which("bwrap") is None:
        return "limits"
    with tempfile.TemporaryDirectory() as desk:
        trial = subprocess.run(
            ["bwrap", *walls(desk), sys.executable, "-c", "import ipykernel, plaincourse.assigned"],
            capture_output=True,
        )
    return "full" if trial.returncode == 0 else "limits"


def walls(box):
    """bubblewrap's options: the system and Python to read, the box to write to, no network, no other process.
    /tmp and /dev/shm are memory, so they have an end.
    """
    options = ["--dev", "/dev", "--proc", "/proc"]
    for place in ("/tmp", "/dev/shm"):
        options += ["--size", str(SCRATCH), "--tmpfs", place]
    for place in (*SYSTEM, *readable()):
        options += ["--ro-bind-try", str(place), str(place)]
    return [
        *options,
        "--bind",
        str(box),
        str(box),
        "--chdir",
        str(box),
        "--unshare-all",
        "--cap-drop",
        "ALL",
        "--die-with-parent",
    ]


def readable():
    """What the student's code reads: Python, its packages, and the two packages of the course."""
    import plaincourse
    import plainformer

    pythons = {
        Path(place) for place in (sys.prefix, sys.base_prefix, Path(sys.executable).resolve().parents[1])
    }
    packages = {Path(package.__file__).resolve().parent for package in (plainformer, plaincourse)}
    return sorted(place for place in pythons | packages if place != Path("/usr"))


class BoxedKernelManager(AsyncKernelManager):
    """A kernel in the box, reached through sockets in its desk."""

    box = Unicode()
    memory = Integer()
    seconds = Integer()
    size = Integer(200_000_000)

    def format_kernel_cmd(self, extra_arguments=None):
        """The kernel's command behind the limits and the walls."""
        command = [
            sys.executable,
            "-P",  # a student's ipykernel_launcher.py is not it
            "-m",
            "ipykernel_launcher",
            "-f",
            self.connection_file,
            *(extra_arguments or []),
        ]
        if isolation() == "full":
            # In its own process namespace the kernel's parent is process 1, which it would take for a sign
            # that the parent is gone.
            command = [
                "bwrap",
                *walls(self.box),
                "--chdir",
                str(Path(self.box) / "desk"),
                "--unsetenv",
                "JPY_PARENT_PID",
                *command,
            ]
        limits = [str(number) for number in (self.memory, self.seconds, self.size)]
        return [sys.executable, "-I", str(LAUNCH), *limits, *command]


def environment(box):
    """Of the kernel: its home is empty, so that no start-up file waits there, and it has one thread, since a
    processor has one job.
    """
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    home = {
        name: str(Path(box) / "home")
        for name in ("HOME", "USERPROFILE", "IPYTHONDIR", "MPLCONFIGDIR", "TMPDIR")
    }
    return kept | home | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def lay_out(box, folder):
    """The box as a student finds it: a desk with the assignment's files and nothing of an earlier attempt,
    an empty home, and room for what the kernel needs, where no file of a student's can be. The desk.
    """
    emptied(box)
    for name in ("desk", "home"):
        (box / name).mkdir()
    submission.copy(folder, box / "desk")
    return box / "desk"


def emptied(box):
    """Remove everything in the box, whatever a student's code locked."""
    for place, folders, _ in os.walk(box):
        for name in folders:
            path = Path(place, name)
            if not path.is_symlink():
                path.chmod(0o700)
    for path in box.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def manager(box, memory, seconds):
    """A BoxedKernelManager whose connection file lies in the box, beside the desk."""
    unix = os.name == "posix"
    where = {"transport": "ipc", "ip": str(Path(box) / "socket")} if unix else {}
    boxed = BoxedKernelManager(
        box=str(box),
        memory=memory,
        seconds=seconds,
        connection_file=str(Path(box) / "kernel.json"),
        **where,
    )
    boxed.kernel_spec.interrupt_mode = (  # a signal would end bubblewrap instead of reaching the kernel
        "message"
    )
    return boxed
