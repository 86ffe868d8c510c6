//! The allowlist of system calls that the program may make while serving. No allowed call makes a
//! socket, connects one, starts a program or signals another process. Landlock restricts the files.

use confinement::{FILE_CALLS, SyscallAllowlist};

pub(crate) fn allowed() -> SyscallAllowlist {
    SyscallAllowlist::of_runtime().with(FILE_CALLS)
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;
    use std::process::Command;

    use super::*;

    #[test]
    fn there_is_neither_a_new_socket_nor_a_program() {
        // In its own thread, because the filter applies to the calling thread.
        let held = std::thread::spawn(|| {
            allowed().apply().expect("restricted");
            assert!(TcpListener::bind("127.0.0.1:0").is_err());
            assert!(TcpStream::connect("127.0.0.1:9").is_err());
            assert!(UnixStream::connect("/run/dbus/system_bus_socket").is_err());
            assert!(UnixStream::pair().is_err());
            assert!(Command::new("/bin/true").status().is_err());
            // A thread of the runtime, which reads a file.
            let read = std::thread::spawn(|| std::fs::read("/proc/self/status").is_ok());
            assert!(read.join().expect("a thread"));
        });
        held.join().expect("holds");
    }

    /// A group of calls that grows must not grow this list unnoticed.
    #[test]
    fn the_list_has_no_call_more() {
        let calls = if cfg!(target_arch = "x86_64") { 80 } else { 73 };
        assert_eq!(allowed().numbers().len(), calls, "{:?}", allowed().numbers());
    }
}
