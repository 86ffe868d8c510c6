# attempt: has 600 processes at once for two seconds
# class: limits
# origin: ours
# evidence: the host counts more than 500 processes of this run
# measure: processes 500
# monty: import os; os.fork()
import time

from attempt import *

children = []
failure = "none"
for _ in range(600):
    try:
        child = os.fork()
    except OSError as error:
        failure = name_of(error)
        break
    if child == 0:
        time.sleep(2)
        os._exit(0)
    children.append(child)
time.sleep(1)
say("CONTAINED" if len(children) < 600 else "ESCAPED", f"{len(children)} children, then {failure}")
for child in children:
    os.waitpid(child, 0)
