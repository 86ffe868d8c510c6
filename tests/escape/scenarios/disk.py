# attempt: writes 512 MiB to each place that accepts files, and keeps them for a second
# class: limits
# origin: ours
# evidence: the host finds the file, or its shared memory has grown by more than 400 MiB
# measure: stored 400
# monty: open("/out/large", "w").write("x" * (512 * 1048576))
import time

from attempt import *

most, done = 512, 0
files = []
try:
    for place in dict.fromkeys(["/dev/shm", "/tmp", "/out", "/var/tmp", os.environ.get("HOME", "/")]):
        path = f"{place}/{PLACES['nonce']}"
        try:
            with open(path, "wb") as file:
                files.append(path)
                while done < most:
                    file.write(b"x" * (1 << 20))
                    file.flush()
                    done += 1
        except OSError as error:
            print(f"  {place}: {name_of(error)} after {done} MiB in all", flush=True)
    time.sleep(1)
    say("ESCAPED" if done == most else "CONTAINED", f"wrote {done} MiB")
finally:
    for path in files:
        os.unlink(path)
