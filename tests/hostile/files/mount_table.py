# attack: paths of the host in its mount table
# expect: ok
# stdout: CONTAINED

rows = [line.split() for line in open("/proc/self/mountinfo")]
# Fields 4 and 5: the mounted directory of the file system, and the mount point.
named = [(root, at) for root, at in ((row[3], row[4]) for row in rows)
         if any(word in root for word in ("/home/", "/tmp/", "/state/", "staging", "/var/"))]
for root, at in named:
    print("names", root, "at", at)
print("OPEN" if named else "CONTAINED")
