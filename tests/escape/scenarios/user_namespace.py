# attempt: becomes root of a new user namespace, from which most faults of the kernel are reached
# class: kernel
# origin: ours
# evidence: the kernel makes the namespace
from attempt import *

tries = Tries()
tries.call("unshare", lambda: f"unshare {libc('unshare', 0x10000000)}")
tries.end()
