"""TOOL-EXEC in each mode and with each backend. Must never: run a script other than by `toolexec run`."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import time

from subject import PATH, SLOWDOWN, STOPPED_AFTER_SEC, RunOutput, Subject

GUEST_STOPPED_AFTER_SEC = 150

REQUEST = """---
request_type: tool_request
schema_version: 1
request_id: "{id}"
created_utc: "{now}"
requested_by: human
approved_by: trial
approved_utc: "{now}"
purpose: "Try one way out."
language: python
{backend}network: none
cpu_limit: "1"
memory_limit_mb: {memory}
time_limit_sec: {seconds}
inputs:
  - name: {script}
    sha256: "{sha256}"
outputs_expected: []
constraints: []
---

## Command

python {script}

## Input Files

- /in/{script}

## Output Expectations

None.

## Risk Assessment

- Risk level: low
- Justification: it tries a way out of the sandbox, and does nothing if it finds one
- Data sensitivity: public
- Network rationale: none
"""


class ToolExec(Subject):
    """`toolexec run`. The script is an input of a request, which its starter approves."""
    ours = True
    out = "/out"
    backend = ""
    entry = ""
    memory, stopped_after = 256, STOPPED_AFTER_SEC
    replacements = ()

    def missing(self):
        if self.as_root and os.geteuid() != 0:
            return "needs root"
        if not (self.programs / "toolexec").is_file():
            return f"{self.programs}/toolexec: no such file; help: cargo build --release --workspace --locked"
        return None

    def version(self):
        said = subprocess.run([self.programs / "toolexec", "--version"], capture_output=True, text=True)
        return said.stdout.strip()

    def _policy(self):
        """Returns the options for a policy with the backend, which is written once."""
        if not self.entry:
            return []
        path = self.scratch / f"{self.name}.yaml"
        if not path.exists():
            shown = subprocess.run([self.programs / "toolexec", "policy", "show", "embedded"],
                                   capture_output=True, text=True, check=True).stdout
            text = shown.replace("\nbackend: confined\n", f"\nbackend: confined\nbackends:\n  {self.entry}\n", 1)
            for old, new in self.replacements:
                text = text.replace(old, new, 1)
            path.write_text(text)
        return ["--policy", str(path)]

    def run(self, run):
        now = time.gmtime()
        identity = f"TR-{time.strftime('%Y%m%d-%H%M%SZ', now)}-trial-{run.nonce}"
        inputs = run.directory / f"{identity}.inputs"
        inputs.mkdir()
        text = self.script_text(run)
        (inputs / run.script.name).write_text(text)
        request = run.directory / f"{identity}.md"
        request.write_text(REQUEST.format(
            id=identity, now=time.strftime("%Y-%m-%dT%H:%M:%SZ", now), backend=self.backend,
            memory=self.memory, seconds=self.seconds(run), script=run.script.name,
            sha256=hashlib.sha256(text.encode()).hexdigest()))
        words = ["timeout", "-k", "5", str(self.stopped_after), str(self.programs / "toolexec"), "run",
                 str(request), "--state", self.state(), *self._policy(), "--format", "json"]
        return self._of_record(self._finish(run, words))

    def script_text(self, run):
        return run.script.read_text()

    def seconds(self, run):
        return 5 if run.measured == "seconds" else 20 * SLOWDOWN

    def state(self):
        path = self.scratch / f"{self.name}.state"
        if not path.exists():
            path.mkdir(mode=0o700)
            if os.geteuid() == 0:
                os.chown(path, self.user.uid, self.user.gid)
        return str(path)

    def _of_record(self, said):
        """Reads the run's output from its record."""
        try:
            answer = json.loads(said.text.splitlines()[-1])
            record = pathlib.Path(answer["record"])
        except (IndexError, ValueError, KeyError, TypeError):
            return RunOutput("", said.stderr, f"no record: {said.stderr.strip()[-300:]}", False)
        text, errors = ((record / name).read_text(errors="replace") if (record / name).is_file() else ""
                        for name in ("stdout", "stderr"))
        files = sorted(it for it in (record / "artifacts").rglob("*") if it.is_file() and not it.is_symlink())
        end = answer["outcome"] if answer["outcome"] != "exit_nonzero" else f"exit {answer['exit_code']}"
        errors += reason_of(record)
        return RunOutput(text, errors, end, "TRYING" in text, b"\n".join(it.read_bytes()[:65536] for it in files))


def reason_of(record):
    """Returns the reason in a record of a run that was not started."""
    lines = (record / f"{record.name}.md").read_text().splitlines()
    return "".join(line.removeprefix("- Reason: ") for line in lines if line.startswith("- Reason: "))


class ToolExecSystem(ToolExec):
    name, as_root = "toolexec-system", True
    usage = "`toolexec run` as root, the backend confined"


class ToolExecUser(ToolExec):
    name = "toolexec-user"
    usage = "`toolexec run` as an ordinary user, the backend confined"


class ToolExecMonty(ToolExec):
    name = "toolexec-monty"
    usage = "`toolexec run` as an ordinary user, the backend monty, which has a subset of Python and no module of the host"
    backend, entry = "backend: monty\n", "monty: {kind: interpreter, program: auto, memory_extra_mb: 16}"

    def missing(self):
        if not (self.programs / "toolexec-monty").is_file():
            return f"{self.programs}/toolexec-monty: no such file; help: cargo build --release --workspace --locked"
        return super().missing()

    def script_text(self, run):
        """Returns the try in the words of monty. Without words for it, the way to system calls is tried."""
        if run.reads:
            paths = [run.places[name] for name in run.reads]
            code = (f"failed = []\nfor path in {paths!r}:\n    try:\n        print(open(path).read())\n"
                    "    except Exception as error:\n        failed.append(f'{path} {type(error).__name__}')\n"
                    "print('CONTAINED: ' + '; '.join(failed))")
        else:
            code = (run.monty or "import ctypes; ctypes.CDLL(None)").replace("; ", "\n")
        return f"print('TRYING')\n{code}\n"


class ToolExecMicroVm(ToolExec):
    name = "toolexec-microvm"
    usage = "`toolexec run` as an ordinary user, the backend microvm with TCG: the guest has its own kernel"
    memory, stopped_after = 384, GUEST_STOPPED_AFTER_SEC
    # A small /out leaves more memory to the guest.
    replacements = (("out_percent: 50", "out_percent: 5"),)
    backend = "backend: ERA\n"

    def __init__(self, user, scratch, programs):
        super().__init__(user, scratch, programs)
        beside = [self.programs / "microvm", self.programs.parent / "microvm"]
        self.files = next((it for it in beside if (it / "kernel").is_file()), beside[0])
        self.entry = f"ERA: {{kind: microvm, files: {self.files}, accel: [tcg], boot_sec: 60}}"

    def missing(self):
        if not (self.files / "kernel").is_file():
            return "no guest beside the programs; help: tests/prepare guest"
        if not shutil.which("qemu-system-x86_64", path=PATH):
            return "not installed; help: apt-get install qemu-system-x86"
        return super().missing()

    def seconds(self, run):
        return 5 if run.measured == "seconds" else 60
