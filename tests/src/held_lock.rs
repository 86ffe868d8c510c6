//! A program that holds the lock of a file for as long as it lives. It writes to the file from a
//! page of memory that never answers, as an agent can. A process that waits for the lock is in
//! uninterruptible sleep.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::skip;

const PYTHON: &str = "/usr/bin/python3";
/// The page is one of userfaultfd(2), which this program never fills. An agent without that right
/// can use a page of a file in a FUSE file system of its own.
const PROGRAM: &str = r#"
import ctypes, fcntl, mmap, os, platform, struct, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
def done_within(seconds, act):
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    thread.join(seconds)
    return not thread.is_alive()
try:
    number = {"x86_64": 323, "aarch64": 282}.get(platform.machine(), -1)
    faults = libc.syscall(number, os.O_CLOEXEC | os.O_NONBLOCK)
    if faults < 0:
        device = os.open("/dev/userfaultfd", os.O_RDWR | os.O_CLOEXEC)
        faults = fcntl.ioctl(device, 0xAA00, os.O_CLOEXEC | os.O_NONBLOCK)
    fcntl.ioctl(faults, 0xC018AA3F, bytearray(struct.pack("<QQQ", 0xAA, 0, 0)))
    page = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    first = ctypes.c_char.from_buffer(page)
    address = ctypes.addressof(first)
    region = bytearray(struct.pack("<QQQQ", address, mmap.PAGESIZE, 1, 0))
    fcntl.ioctl(faults, 0xC020AA00, region)
except OSError as error:
    sys.exit(f"userfaultfd: {error}")
libc.pwrite.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long]
file = os.open(sys.argv[1], os.O_RDWR)
if done_within(0.5, lambda: libc.pwrite(file, address, 1, 0)):
    sys.exit("a write from the page ends")
if done_within(0.5, lambda: os.lseek(os.open(sys.argv[1], os.O_RDONLY), 0, os.SEEK_HOLE)):
    sys.exit("a write holds no lock on this file system")
if not done_within(10, lambda: os.pread(os.open(sys.argv[1], os.O_RDONLY), 1, 0)):
    sys.exit("a read waits for a write on this file system")
print("held", flush=True)
for line in sys.stdin:
    if done_within(0.5, lambda: os.rename(sys.argv[1], line.rstrip("\n"))):
        sys.exit("a rename does not wait")
    print("renaming", flush=True)
"#;

/// The lock of one file, and of its directory after [`Self::rename_to`], until this is dropped.
pub struct HeldLock {
    holder: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl HeldLock {
    /// Holds the lock of a file. Logs a skip and returns `None` if this host does not permit it.
    #[must_use]
    pub fn of(test: &str, path: &Path) -> Option<Self> {
        if !Path::new(PYTHON).is_file() {
            skip(test, "no /usr/bin/python3 to hold a lock with");
            return None;
        }
        let mut command = Command::new(PYTHON);
        command.args(["-c", PROGRAM]).arg(path).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut holder = command.stderr(Stdio::piped()).spawn().unwrap();
        let orders = holder.stdin.take().unwrap();
        let answers = BufReader::new(holder.stdout.take().unwrap());
        let mut held = Self { holder, orders, answers };
        if held.answer() == "held\n" {
            return Some(held);
        }
        let stderr = BufReader::new(held.holder.stderr.take().unwrap());
        let why = stderr.lines().map_while(Result::ok).last().unwrap_or_default();
        skip(test, &format!("no lock of a file can be held here: {why}"));
        None
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line
    }

    /// Has the program rename the file within its directory. The rename waits for the lock of the
    /// file, and holds that of the directory meanwhile.
    ///
    /// # Panics
    /// Panics if the rename does not wait.
    pub fn rename_to(&mut self, path: &Path) {
        writeln!(self.orders, "{}", path.display()).unwrap();
        assert_eq!(self.answer(), "renaming\n");
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        // It has ended already if it could not hold the lock.
        self.holder.kill().unwrap_or_default();
        self.holder.wait().unwrap();
    }
}
