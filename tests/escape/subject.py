"""A sandbox of the trial, and the output of one run in it."""
import dataclasses
import os
import shutil
import subprocess

# An emulated processor is slower: `.ci/guest` sets the factor.
SLOWDOWN = max(1, int(os.environ.get("TOOLEXEC_SLOWDOWN", "1")))
# No launcher but ours has a time limit. The longest scenario takes 12 seconds.
STOPPED_AFTER_SEC = 25 * SLOWDOWN
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
PYTHON = "/usr/bin/python3"


@dataclasses.dataclass
class RunOutput:
    """The output of one run: its streams, the files that the host collected, and its end."""
    text: str
    stderr: str
    end: str
    started: bool
    artifacts: bytes = b""


class Subject:
    """A sandbox of the table."""
    name = package = usage = ""
    as_root = False
    ours = False
    out = ""

    def __init__(self, user, scratch, programs):
        self.user, self.scratch, self.programs = user, scratch, programs

    def missing(self):
        """Returns the reason why this host cannot run it, or None."""
        if self.as_root and os.geteuid() != 0:
            return "needs root"
        if not shutil.which(self.name, path=PATH):
            return f"not installed; help: apt-get install {self.package}"
        return None

    def version(self):
        said = subprocess.run([self.name, "--version"], capture_output=True, text=True, env={"PATH": PATH})
        return said.stdout.splitlines()[0].strip()

    def run(self, run):
        words = ["timeout", "-k", "1", str(STOPPED_AFTER_SEC), *self.command(run)]
        return self._finish(run, words)

    def _finish(self, run, words):
        # Files, because a process that a stopped launcher leaves would keep a pipe open.
        streams = [run.directory / name for name in ("stdout", "stderr")]
        with open(streams[0], "wb") as stdout, open(streams[1], "wb") as stderr:
            code = subprocess.run(self.user.command(words), stdin=subprocess.DEVNULL, stdout=stdout,
                                  stderr=stderr, cwd="/", env=self.environment(run)).returncode
        text, errors = (it.read_text(errors="replace") for it in streams)
        return RunOutput(text, errors, f"exit {code}", "TRYING" in text)

    def environment(self, run):
        return {"PATH": PATH, "HOME": self.user.home, **run.variables}

    def command(self, run):
        raise NotImplementedError
