"""A process of the host with a secret in its environment and a key in the kernel. It prints the
number of the key, and a line for each signal. It ends with its standard input."""
import ctypes
import os
import signal
import sys

CALLS = {"x86_64": (248, 250), "aarch64": (217, 219)}
USER_KEYRING, SETPERM, UNLINK = -4, 5, 9

add_key, keyctl = CALLS[os.uname().machine]
library = ctypes.CDLL(None, use_errno=True)
library.syscall.restype = ctypes.c_long
value = sys.argv[2].encode()
key = library.syscall(add_key, b"user", sys.argv[1].encode(), value, ctypes.c_size_t(len(value)),
                      ctypes.c_long(USER_KEYRING))
# Its owner may do everything with it from every session.
library.syscall(keyctl, SETPERM, ctypes.c_long(key), ctypes.c_long(0x3f3f0000))
signal.signal(signal.SIGUSR1, lambda *_: print("it received a signal", flush=True))
print(key, flush=True)
sys.stdin.read()
library.syscall(keyctl, UNLINK, ctypes.c_long(key), ctypes.c_long(USER_KEYRING))
