"""The verdict about a run. The script's own words never prove an escape; the host's evidence does."""
import contextlib
import os
import pathlib
import re
import threading
import time

from scenario import Result


class Observer(threading.Thread):
    """Measures the processes of a run from the host, until `stop`."""

    def __init__(self, run, home):
        super().__init__(daemon=True)
        self.run_, self.home = run, home
        self.ended = threading.Event()
        self.most = {"processes": 0, "mebibytes": 0, "stored": 0, "seconds": 0}
        self.begun, self.shared = time.monotonic(), self._shared_mib()

    @staticmethod
    def _shared_mib():
        text = pathlib.Path("/proc/meminfo").read_text()
        return int(re.search(r"^Shmem: *(\d+)", text, re.M)[1]) // 1024

    def _processes(self):
        """Returns the pages of each process that runs the script."""
        for directory in pathlib.Path("/proc").iterdir():
            if directory.name.isdigit():
                with contextlib.suppress(OSError):
                    if (directory / "comm").read_text().startswith("python") and \
                            self.run_.script.name.encode() in (directory / "cmdline").read_bytes():
                        yield int((directory / "statm").read_text().split()[1])

    def _stored_mib(self):
        names = [f"{it}/{self.run_.nonce}" for it in ("/dev/shm", "/tmp", "/var/tmp", "/out", self.home)]
        files = sum(os.stat(it).st_size for it in names if os.path.exists(it)) >> 20
        return max(files, self._shared_mib() - self.shared)

    def run(self):
        while not self.ended.wait(0.2):
            pages = list(self._processes())
            seen = {"processes": len(pages), "mebibytes": max(pages, default=0) * os.sysconf("SC_PAGE_SIZE") >> 20,
                    "stored": self._stored_mib(), "seconds": int(time.monotonic() - self.begun) if pages else 0}
            self.most = {key: max(self.most[key], value) for key, value in seen.items()}

    def stop(self):
        self.ended.set()
        self.join()


def evidence_of(scenario, run, said, baits, observer):
    """Returns all that proves an escape, with everything that it has changed put back."""
    output = said.text + said.stderr + said.artifacts.decode("latin-1")
    found = [f"the output has the value of {name}" for name, value in baits.values.items() if value in output]
    came = {name for name, data in baits.received if run.nonce.encode() in data}
    found += [f"the host's {name} received the number of this run" for name in sorted(came)]
    found += [f"{name} has another text" for name in baits.changed_files()]
    if "signal: sent" in said.text:
        time.sleep(0.5)
    if report := baits.process_reports():
        found.append(f"the host's process: {report}")
    if (run.after or run.script.read_text()) != run.text:
        found.append("the script, which was read-only, has another text")
    what, most = scenario.measure()
    if what != "none" and observer.most[what] > most and claim_of(said)[0] == "ESCAPED":
        found.append(f"the host saw {observer.most[what]} {what}; the limit of this trial is {most}")
    return found


def claim_of(said):
    """Returns the last verdict that the script printed, and its text."""
    claims = re.findall(r"^(ESCAPED|OPEN|CONTAINED|CANNOT TRY)(?:: (.*))?$", said.text, re.M)
    return claims[-1] if claims else ("", "")


def judge(scenario, subject, run, said, found):
    if found:
        return Result("ESCAPED", "; ".join(found))
    claim, text = claim_of(said)
    if claim == "ESCAPED":
        # A guest's own files, processes and limits are not the host's.
        if subject.name == "toolexec-microvm":
            return Result("CONTAINED", f"in the guest only: {text}")
        return Result("UNPROVEN", f"it claims {text}, and the host found no evidence")
    if claim == "OPEN" and subject.name == "toolexec-microvm":
        return Result("CONTAINED", f"the guest's own kernel did it: {text}")
    if claim:
        return Result(claim, text)
    errors = said.stderr.strip().splitlines() or ["no message"]
    if subject.name == "toolexec-monty" and said.end.startswith("exit"):
        return Result("CONTAINED", f"the interpreter refuses it: {errors[-1]}")
    if not said.started or "Traceback" in said.stderr:
        return Result("BROKEN", f"{said.end}: {errors[-1]}")
    return Result("CONTAINED", f"ended with {said.end}")
