"""The baits of the trial: things of this host that a sandbox must not reach, each with a random
value that nothing else has. They are planted for one user, and all are removed at the end.

Must never: replace a file that exists, or leave anything behind unless it is killed (SIGKILL).
"""
import contextlib
import ctypes
import os
import pathlib
import secrets
import socket
import subprocess
import threading

HERE = pathlib.Path(__file__).resolve().parent
IPC_CREAT, IPC_RMID = 0o1000, 0


def host_address():
    """Returns an address of this host that is not a loopback one, or None. Sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        with contextlib.suppress(OSError):
            asking.connect(("198.51.100.1", 9))
            address = asking.getsockname()[0]
            return None if address.startswith(("127.", "0.")) else address
    return None


def root_disk():
    """Returns the device number and the node of the root file system."""
    device = os.stat("/").st_dev
    number = (os.major(device), os.minor(device))
    with contextlib.suppress(OSError):
        text = pathlib.Path(f"/sys/dev/block/{number[0]}:{number[1]}/uevent").read_text()
        name = dict(line.split("=", 1) for line in text.split()).get("DEVNAME")
        if name:
            return number, f"/dev/{name}"
    return number, "/dev/none"


class Baits:
    """The baits for the sandboxes that one user starts, in a `with` block."""
    def __init__(self, user, scratch):
        self.user, self.scratch = user, scratch
        self.mark = f"toolexec-trial-{secrets.token_hex(6)}"
        self.values = {}
        self.places = {"variable": "TOOLEXEC_TRIAL_TOKEN"}
        self.received = []
        self.undo = contextlib.ExitStack()

    def __enter__(self):
        try:
            self._plant_all()
        except BaseException:
            self.undo.close()
            raise
        return self

    def __exit__(self, *_):
        self.undo.close()

    def value(self, name):
        return self.values.setdefault(name, secrets.token_hex(16))

    def _plant_all(self):
        self._plant_files()
        self._plant_listeners()
        self._plant_memory()
        self._start_process()
        number, node = root_disk()
        self.places |= {"disk": number, "disk_node": node, "root_inode": os.stat("/").st_ino}
        self.value("environment")
        with contextlib.suppress(OSError), open(node, "rb") as disk:
            found = disk.read(4096)[1128:1144].hex()
            if found.strip("0"):
                self.values["disk"] = found

    # --- files ---------------------------------------------------------------------------

    def _plant_files(self):
        home, mark = self.user.home, self.mark
        self._file("home_secret", f"{home}/.{mark}", 0o600)
        self._file("home_file", f"{home}/{mark}.txt", 0o644)
        self._file("ssh_key", f"{home}/.ssh/{mark}", 0o600)
        self._file("cloud_key", f"{home}/.aws/{mark}", 0o600)
        netrc = f"{home}/.netrc"
        self._file("netrc", f"{netrc}-{mark}" if os.path.lexists(netrc) else netrc, 0o600)
        self._file("settings", f"{home}/.config/{mark}/settings", 0o600)
        self._file("notes", f"{home}/{mark}-notes", 0o600)
        self._file("other_tmp", f"/tmp/{mark}", 0o644)
        self._file("posix_memory", f"/dev/shm/{mark}", 0o644)
        self.places["root_secret"] = f"/root/.{mark}-root"
        if os.geteuid() == 0:
            self._file("root_secret", self.places["root_secret"], 0o600, as_root=True)
            self._plant_token(pathlib.Path("/var/run/secrets/kubernetes.io/serviceaccount/token"))
        else:
            self._file("kubernetes_token", f"{self.scratch}/{mark}/serviceaccount/token", 0o644)

    def _plant_token(self, path):
        """Plants the token, or uses the one of this host: a pod has one, and so has a host on which
        an earlier trial was killed."""
        if os.path.lexists(path):
            self.places["kubernetes_token"] = str(path)
            with contextlib.suppress(OSError), open(path, "rb") as file:
                if found := file.read(4096).decode("latin-1").replace("\0", " ").strip():
                    self.values["kubernetes_token"] = found
        else:
            self._file("kubernetes_token", path, 0o644, as_root=True)

    def _file(self, name, path, mode, as_root=False):
        """Plants a file as its owner, who then follows only links that are the owner's."""
        path = os.path.realpath(os.path.dirname(path)) + "/" + os.path.basename(path)
        new = [str(it) for it in pathlib.Path(path).parents if not it.exists()]
        act = (lambda act: act()) if as_root else self.user.do
        value = self.value(name)

        def plant():
            for directory in reversed(new):
                os.mkdir(directory, 0o755)
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW
            with os.fdopen(os.open(path, flags, mode), "w") as file:
                file.write(value)

        def remove():
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            for directory in new:
                with contextlib.suppress(OSError):
                    os.rmdir(directory)

        self.undo.callback(act, remove)
        act(plant)
        self.places[name] = path

    def changed_files(self):
        """Returns the names of planted files whose text is another one, and plants that again."""
        changed = []
        for name in ("home_secret", "home_file", "ssh_key", "posix_memory"):
            path = pathlib.Path(self.places[name])
            if not path.is_file() or path.read_text(errors="replace") != self.values[name]:
                changed.append(name)
                self.user.do(lambda: path.write_text(self.values[name]))
        return changed

    # --- listeners -----------------------------------------------------------------------

    def _plant_listeners(self):
        outer = host_address()
        self.places["host_address"] = outer
        self.places["tcp_port"] = self._listen(["127.0.0.1"], "loopback service")
        self.places["metadata_port"] = self._listen(["127.0.0.1", outer], "metadata service")
        self.places["outer_port"] = self._listen([outer], "outer service") if outer else 0
        self.places["udp_port"] = self._listen(["127.0.0.1", outer], "resolver", socket.SOCK_DGRAM)
        self.places["socket"] = f"{self.scratch}/{self.mark}.sock"
        self._listen_unix(self.places["socket"], "socket file", 0o666)
        self.places["abstract"] = self.mark
        self._listen_unix("\0" + self.mark, "abstract socket")
        docker = "/var/run/docker.sock"
        # Members of the group `docker` may use the socket, and so may this user here.
        if os.geteuid() != 0 or os.path.lexists(docker):
            docker = f"{self.scratch}/{self.mark}-docker.sock"
        self.places["docker_socket"] = docker
        self._listen_unix(docker, "docker socket", 0o660)

    def _listen(self, addresses, name, kind=socket.SOCK_STREAM):
        """Listens at one port of each address, and returns the port."""
        for _ in range(20):
            with contextlib.ExitStack() as opened, contextlib.suppress(OSError):
                listeners, port = [], 0
                for address in filter(None, addresses):
                    listener = opened.enter_context(socket.socket(socket.AF_INET, kind))
                    listener.bind((address, port))
                    port = listener.getsockname()[1]
                    listeners.append(listener)
                self.undo.enter_context(opened.pop_all())
                for listener in listeners:
                    self._serve(listener, name, kind)
                return port
        raise OSError(f"{name}: none of 20 ports is free at {addresses}")

    def _listen_unix(self, path, name, mode=None):
        listener = self.undo.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(path)
        if mode is not None:
            self.undo.callback(os.unlink, path)
            os.chmod(path, mode)
            if os.geteuid() == 0:
                os.chown(path, 0, self.user.gid)
        self._serve(listener, name, socket.SOCK_STREAM)

    def _serve(self, listener, name, kind):
        answer = self.value(name).encode()

        def stream():
            listener.listen(8)
            while True:
                connected, _ = listener.accept()
                with connected, contextlib.suppress(OSError):
                    connected.settimeout(2)
                    self.received.append((name, connected.recv(4096)))
                    connected.sendall(answer)

        def datagrams():
            while True:
                asked, sender = listener.recvfrom(4096)
                if sender is None:
                    return
                self.received.append((name, asked))
                listener.sendto(answer, sender)

        def serve():
            # Closing the listener ends it.
            with contextlib.suppress(OSError):
                stream() if kind == socket.SOCK_STREAM else datagrams()

        self.undo.callback(self._shut, listener)
        threading.Thread(target=serve, daemon=True).start()

    @staticmethod
    def _shut(listener):
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)

    # --- memory and a process ------------------------------------------------------------

    def _plant_memory(self):
        library = ctypes.CDLL(None, use_errno=True)
        library.shmat.restype = ctypes.c_void_p
        key = 0x54450000 + secrets.randbelow(0xffff) + 1
        number = library.shmget(key, 4096, IPC_CREAT | 0o2000 | 0o666)
        if number < 0:
            raise OSError(ctypes.get_errno(), "shmget")
        self.undo.callback(library.shmctl, number, IPC_RMID, None)
        address = library.shmat(number, None, 0)
        ctypes.memmove(address, self.value("shared memory").encode() + b"\0", 33)
        library.shmdt(ctypes.c_void_p(address))
        self.places["memory_key"] = key

    def _start_process(self):
        """Starts a process of the user, which has a key in the kernel and reports a signal."""
        name = f"{self.mark}-process"
        process = subprocess.Popen(
            # The user may not have access to the checkout.
            self.user.command(["/usr/bin/python3", "-c", (HERE / "bait_process.py").read_text(), name,
                               self.value("key")]),
            env={"PATH": "/usr/bin:/bin", "TOOLEXEC_TRIAL_PROCESS": self.value("process")},
            cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.undo.callback(process.wait)
        self.undo.callback(process.stdin.close)
        self.process = process
        self.places |= {"process": process.pid, "process_name": name, "key_name": name}
        self.places["key_number"] = int(process.stdout.readline())
        os.set_blocking(process.stdout.fileno(), False)

    def process_reports(self):
        """Returns the bait process's report since the last call, or None."""
        if self.process.poll() is not None:
            self._start_process()
            return "it has ended"
        return self.process.stdout.readline().strip() or None
