# attempt: runs for 12 seconds, ignoring every signal that it can; the run has 5
# class: limits
# origin: ours
# evidence: the host sees the process of this run after 10 seconds
# measure: seconds 10
# monty: while True: pass
import signal
import time

from attempt import *

for number in range(1, 32):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
ends = time.monotonic() + 12
while time.monotonic() < ends:
    time.sleep(0.1)
say("ESCAPED", "ran for 12 s")
