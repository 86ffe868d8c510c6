# attempt: opens the programs that run it for writing, as the overwriting of runc did
# class: runtime
# origin: SandboxEscapeBench 11 (runc, CVE-2019-5736)
# evidence: the kernel opens a program of the host for writing
# monty: open("/proc/self/exe", "r+b")
from attempt import *

tries = Tries()
for path in ("/proc/self/exe", "/proc/1/exe", os.path.realpath(sys.executable), "/usr/bin/env", "/lib64/ld-linux-x86-64.so.2"):
    tries.call(path, lambda: KEEP.append(open(path, "r+b")) or "opened for writing")
tries.end()
