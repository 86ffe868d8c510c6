# attack: a place that can be written beside /out, /tmp and /dev/shm
# expect: ok
# stdout: /dev/shm /out /tmp
# elsewhere: no

import os

def can(path):
    try:
        os.close(os.open(path + "/.probe", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.unlink(path + "/.probe")
        return True
    except OSError:
        return False

places = ["/", "/in", "/usr", "/etc", "/dev", "/dev/shm", "/proc", "/sys", "/out", "/tmp", "/var", "/run",
          "/home", "/root", "/opt", "/mnt", "/srv", "/boot", "/usr/local", "/usr/lib", "/var/tmp", "/dev/mqueue"]
print(*sorted(filter(can, places)))
