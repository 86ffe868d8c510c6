# attack: anything of the host that is mounted beside what was declared
# expect: ok
# stdout: CONTAINED
# elsewhere: no

allowed = ("/", "/in", "/out", "/tmp", "/proc", "/usr", "/etc", "/dev")
strays = [line.split()[1] for line in open("/proc/self/mounts")]
strays = [at for at in strays if at not in allowed and not at.startswith(("/dev/", "/etc/", "/opt/", "/usr/"))]
print(*strays)
print("OPEN" if strays else "CONTAINED")
