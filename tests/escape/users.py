"""The users who start sandboxes. Nothing is written to a home as root: its owner does that."""
import contextlib
import dataclasses
import os
import pwd
import sys


@dataclasses.dataclass
class User:
    """A user of this host who starts sandboxes."""
    uid: int
    gid: int
    home: str

    def command(self, words):
        """Returns a command line that becomes this user first, if that is another one."""
        if self.uid == os.geteuid():
            return words
        ids = [f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups"]
        return ["setpriv", *ids, "--", *words]

    def do(self, act):
        """Does something as this user, in a process of its own."""
        if self.uid == os.geteuid():
            return act()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.setgroups([])
                os.setresgid(self.gid, self.gid, self.gid)
                os.setresuid(self.uid, self.uid, self.uid)
                act()
                code = 0
            except BaseException as error:
                print(f"tests/escape/trial: as uid {self.uid}: {error}", file=sys.stderr, flush=True)
            finally:
                os._exit(code)
        if os.waitpid(child, 0)[1] != 0:
            raise OSError(f"uid {self.uid} could not do it")
        return None


def current_user(scratch):
    entry = pwd.getpwuid(os.geteuid())
    home = entry.pw_dir if os.access(entry.pw_dir, os.W_OK) else str(scratch)
    return User(entry.pw_uid, entry.pw_gid, home)


def ordinary_user(scratch):
    """Returns the caller, or for root an account of a person, else Debian's `games`."""
    if os.geteuid() != 0:
        return current_user(scratch)
    for entry in pwd.getpwall():
        with contextlib.suppress(OSError):
            if 1000 <= entry.pw_uid < 60000 and os.stat(entry.pw_dir).st_uid == entry.pw_uid:
                return User(entry.pw_uid, entry.pw_gid, entry.pw_dir)
    home = scratch / "home"
    home.mkdir()
    try:
        entry = pwd.getpwnam("games")
        user = User(entry.pw_uid, entry.pw_gid, str(home))
    except KeyError:
        user = User(65533, 65533, str(home))
    os.chown(home, user.uid, user.gid)
    return user
