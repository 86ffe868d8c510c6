# attack: descriptors that are inherited
# expect: ok
# stdout: 0 1 2
# elsewhere: no

import os

found = []
for number in range(1024):
    try:
        os.fstat(number)
        found.append(number)
    except OSError:
        pass
print(*found)
