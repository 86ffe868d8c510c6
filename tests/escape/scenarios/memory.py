# attempt: uses 512 MiB of memory for two seconds; the run has 256
# class: limits
# origin: ours
# evidence: the host measures more than 450 MiB in the process of this run
# measure: mebibytes 450
# monty: held = "x" * (512 * 1048576); print("ESCAPED: held", len(held) // 1048576, "MiB")
import time

from attempt import *

held = []
try:
    for _ in range(32):
        held.append(bytearray(b"x" * 4096) * 4096)
except MemoryError:
    say("CONTAINED", f"MemoryError after {16 * len(held)} MiB")
    sys.exit(0)
print(f"holds {16 * len(held)} MiB", flush=True)
time.sleep(2)
say("ESCAPED", f"held {16 * len(held)} MiB")
