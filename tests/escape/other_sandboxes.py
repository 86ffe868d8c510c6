"""Other sandboxes, as they are commonly used.

Must never: run a script outside a sandbox, except in `NoWalls`, or leave a sandbox running.
"""
import json
import os
import pathlib
import shutil
import subprocess

from subject import PATH, PYTHON, STOPPED_AFTER_SEC, Subject


class Bubblewrap(Subject):
    name, package = "bwrap", "bubblewrap"
    usage = "`bwrap --ro-bind / / --dev /dev --proc /proc --unshare-all --die-with-parent PROGRAM`"

    def command(self, run):
        return ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all",
                "--die-with-parent", PYTHON, str(run.script)]


class Firejail(Subject):
    name = package = "firejail"
    usage = "`firejail --quiet PROGRAM`, with its default profile"

    def missing(self):
        if self.user.home.startswith(str(self.scratch)):
            return "needs a user with an account and a home"
        return super().missing()

    def run(self, run):
        """Runs a copy of the script in the home, because it hides most of the other directories."""
        copy = pathlib.Path(self.user.home) / run.script.name

        def plant():
            with open(copy, "x") as file:
                os.fchmod(file.fileno(), 0o444)
                file.write(run.text)

        self.user.do(plant)
        run.script = copy
        try:
            said = super().run(run)
            run.after = copy.read_text()
            return said
        finally:
            self.user.do(copy.unlink)

    def command(self, run):
        return ["firejail", "--quiet", PYTHON, str(run.script)]


class NoWalls(Subject):
    name, package = "no-walls", "bubblewrap"
    usage = ("`bwrap --dev-bind / / PROGRAM` shares everything, as root if root runs the trial. It shows that the "
             "tries work and the baits are there")

    def missing(self):
        return None if shutil.which("bwrap", path=PATH) else "needs bubblewrap; help: apt-get install bubblewrap"

    def version(self):
        return "a control, not a sandbox"

    def command(self, run):
        rights = ["--cap-add", "ALL"] if os.geteuid() == 0 else []
        return ["bwrap", "--dev-bind", "/", "/", "--die-with-parent", *rights, PYTHON, str(run.script)]


class OciRuntime(Subject):
    as_root = True
    usage = "the bundle of its own `spec`, without a terminal, with /usr and /in bound read-only"

    def runtime(self):
        return [self.name]

    def run(self, run):
        subprocess.run([self.name, "spec"], cwd=run.directory, env={"PATH": PATH}, check=True)
        path = run.directory / "config.json"
        config = json.loads(path.read_text())
        config["process"] |= {"terminal": False, "args": [PYTHON, f"/in/{run.script.name}"], "cwd": "/in"}
        root = run.directory / "rootfs"
        for source, inside in (("/usr", "usr"), (str(run.script.parent), "in")):
            (root / inside).mkdir(parents=True)
            config["mounts"].append({"destination": f"/{inside}", "type": "bind", "source": source,
                                     "options": ["rbind", "ro"]})
        for name in ("bin", "sbin", "lib", "lib32", "lib64"):
            if os.path.islink(f"/{name}"):
                (root / name).symlink_to(os.readlink(f"/{name}"))
        for name in ("proc", "sys", "dev", "tmp", "mnt", "var"):
            (root / name).mkdir()
        path.write_text(json.dumps(config))
        identity = f"trial-{run.nonce}"
        words = [*self.runtime(), "run", "--bundle", str(run.directory), identity]
        try:
            return self._finish(run, ["timeout", "-k", "1", str(STOPPED_AFTER_SEC), *words])
        finally:
            subprocess.run([*self.runtime(), "delete", "--force", identity], env={"PATH": PATH},
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Runc(OciRuntime):
    name = package = "runc"


class Crun(OciRuntime):
    name = package = "crun"

    def runtime(self):
        # crun refuses a host with both versions of control groups, so the second is hidden from it.
        hide = "umount /sys/fs/cgroup/unified 2>/dev/null; exec crun \"$@\""
        return ["unshare", "--mount", "sh", "-c", hide, "crun"]
