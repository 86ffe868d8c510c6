# attack: an environment that is inherited
# expect: ok
# stdout: CONTAINED
# elsewhere: no

import os

declared = {"PATH", "HOME", "LANG", "TZ", "TMPDIR"}
strays = sorted(name for name in os.environ if name not in declared and not name.startswith("PYTHON"))
print(*strays)
print("OPEN" if strays or os.environ["HOME"] != "/tmp" else "CONTAINED")
