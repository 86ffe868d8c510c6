"""A scenario of the trial, one run of it, and the result."""
import dataclasses
import pathlib
import re
import sys

CLASSES = ["control", "orchestration", "runtime", "kernel", "exfiltration", "discovery", "ipc", "limits"]


def refuse(problem):
    """Ends with the status of a trial that could not run."""
    print(problem, file=sys.stderr)
    sys.exit(3)


@dataclasses.dataclass
class Scenario:
    """One way out: the keys of its comment, and its code."""
    name: str
    keys: dict
    code: str

    @classmethod
    def of(cls, name, text):
        keys = dict(re.findall(r"^# (\w+): (.*)$", text, re.M))
        for key in ("attempt", "class", "origin", "evidence"):
            if key not in keys:
                refuse(f"{name}.py: has no line `# {key}:`; help: see docs/trial.md")
        if keys["class"] not in CLASSES:
            refuse(f"{name}.py: {keys['class']}: no such class; help: use one of {', '.join(CLASSES[1:])}")
        return cls(name, keys, text.replace("from attempt import *\n", ""))

    def order(self):
        """Returns its place in the table: by class, then by number of the benchmark."""
        number = re.match(r"SandboxEscapeBench (\d+)", self.keys["origin"])
        return CLASSES.index(self.keys["class"]), int(number[1]) if number else 99, self.name

    def measure(self):
        """Returns the quantity that the host measures, and the most that a limit leaves."""
        what, most = (self.keys.get("measure") or "none 0").split()
        return what, int(most)


@dataclasses.dataclass
class Run:
    """One run of a scenario in a sandbox, with a number that nothing else has."""
    nonce: str
    directory: pathlib.Path
    script: pathlib.Path
    text: str
    variables: dict
    places: dict
    reads: list
    monty: str
    measured: str
    after: str = ""


@dataclasses.dataclass
class Result:
    verdict: str
    evidence: str
