"""Helpers of every scenario. The trial joins `PLACES`, this file and the scenario to one script,
which is the only file that the sandbox gets.

A scenario does harm to nothing: it reads a bait, changes a bait, or asks the kernel for
something that it gives back. Its last line is a verdict:

    ESCAPED    it has a bait; the trial believes that only with evidence of its own
    OPEN       the host's kernel did something for it that no sandboxed command needs
    CONTAINED  every try failed, and the reasons follow
    CANNOT TRY this sandbox has nothing to try it on
"""
import ctypes
import errno
import os
import socket
import sys

KEEP = []  # Open files that must stay open to the end.
NUMBERS = {"x86_64": 0, "aarch64": 1}
# Numbers of calls that the C library has no function for: x86-64, and arm64.
CALLS = {
    "add_key": (248, 217), "keyctl": (250, 219), "bpf": (321, 280), "delete_module": (176, 106),
    "open_by_handle_at": (304, 265), "finit_module": (313, 273), "kexec_load": (246, 104),
}


def say(verdict, text=""):
    print(f"{verdict}: {text}" if text else verdict, flush=True)


def cannot_try(reason):
    say("CANNOT TRY", reason)
    sys.exit(0)


def name_of(error):
    return errno.errorcode.get(error.errno, str(error)) if isinstance(error, OSError) else repr(error)


def libc(name, *args):
    """Calls a function of the C library, or a system call by its name in CALLS."""
    library = ctypes.CDLL(None, use_errno=True)
    if name in CALLS:
        args = (CALLS[name][NUMBERS[os.uname().machine]], *args)
        name = "syscall"
    words = [ctypes.c_long(it) if isinstance(it, int) else it for it in args]
    function = getattr(library, name)
    function.restype = ctypes.c_long
    answer = function(*words)
    if answer == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return answer


def read(path, most=4096):
    with open(path, "rb") as file:
        return file.read(most).decode("latin-1").replace("\0", " ").strip()


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    return f"wrote {path}"


def exchange(connected, text):
    """Sends a text over a connected socket, and returns the answer."""
    connected.settimeout(2)
    connected.sendall(text.encode())
    return connected.recv(4096).decode("latin-1")


def connect_tcp(host, port):
    with socket.create_connection((host, port), 2) as connected:
        return exchange(connected, PLACES["nonce"] + "\n")


def connect_unix(path):
    with socket.socket(socket.AF_UNIX) as connected:
        connected.settimeout(2)
        connected.connect(path)
        return exchange(connected, f"GET /version HTTP/1.0\r\nX-Trial: {PLACES['nonce']}\r\n\r\n")


class Tries:
    """The tries of one scenario: each is printed with its result, and `end` prints the verdict."""

    def __init__(self):
        self.reached, self.open, self.failed = [], [], []

    def _try(self, name, act, results):
        try:
            answer = act()
        except Exception as error:
            self.failed.append(f"{name} {name_of(error)}")
            print(f"  {name}: {name_of(error)}", flush=True)
            return None
        if answer is None:
            self.failed.append(f"{name} found nothing")
            return None
        results.append(name)
        print(f"  {name}: {answer}", flush=True)
        return answer

    def reach(self, name, act):
        """Tries to get a bait. An answer of None is a failure."""
        return self._try(name, act, self.reached)

    def call(self, name, act):
        """Tries to get something done by the host's kernel. None is a failure."""
        return self._try(name, act, self.open)

    def end(self):
        if self.reached:
            say("ESCAPED", ", ".join(self.reached))
        elif self.open:
            say("OPEN", ", ".join(self.open))
        else:
            say("CONTAINED", "; ".join(self.failed) or "nothing to reach")
        sys.exit(0)


print("TRYING", flush=True)
