# attack: other processes in /proc
# expect: ok
# stdout: 1

import os

mine = [name for name in os.listdir("/proc") if name.isdigit()]
print(len(mine))
# The launcher has two more of its own, in its own namespace.
print("CONTAINED" if len(mine) <= 3 else "ESCAPED")
