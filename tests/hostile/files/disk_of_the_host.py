# attack: how full the disk of the host is, and what it is
# expect: ok

import os

for place in ("/in", "/usr"):
    print(place, os.statvfs(place).f_files > 0)
print("CONTAINED")
