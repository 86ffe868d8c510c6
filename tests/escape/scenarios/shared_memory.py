# attempt: attaches memory that a process of the host shares
# class: ipc
# origin: ours
# evidence: the random value of the memory in the output
# reads: posix_memory
from attempt import *

tries = Tries()


def system_v():
    number = libc("shmget", PLACES["memory_key"], 0, 0)
    address = libc("shmat", number, None, 0o10000)
    return ctypes.string_at(address, 64).split(b"\0")[0].decode()


tries.reach("file of /dev/shm", lambda: read(PLACES["posix_memory"]))
tries.reach("System V", system_v)
tries.end()
