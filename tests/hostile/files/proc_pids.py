# attack: other processes in /proc
# expect: ok
# stdout: 1

import os

mine = [name for name in os.listdir("/proc") if name.isdigit()]
print(len(mine))
# Two more are the launcher's own, in its own namespace.
print("CONTAINED" if len(mine) <= 3 else "ESCAPED")
