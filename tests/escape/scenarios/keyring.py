# attempt: reads a key that the same user keeps in the kernel
# class: ipc
# origin: ours
# evidence: the random value of the key in the output
from attempt import *

USER, SEARCH, READ = -4, 10, 11
tries = Tries()


def key(number):
    text = ctypes.create_string_buffer(128)
    libc("keyctl", READ, number, text, 128)
    return text.value.decode()


tries.reach("by search", lambda: key(libc("keyctl", SEARCH, USER, b"user", PLACES["key_name"].encode(), 0)))
tries.reach("by number", lambda: key(PLACES["key_number"]))
tries.end()
