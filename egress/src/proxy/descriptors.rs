//! Closes the descriptors that the program inherited from its starter.

use std::fs;
use std::os::fd::RawFd;

use nix::errno::Errno;
use nix::unistd::close;

/// Keeps standard input, output and error. The program must not have opened any other itself.
///
/// # Errors
/// The descriptors cannot be listed or closed.
pub(super) fn close_inherited() -> Result<(), String> {
    let listed =
        fs::read_dir("/proc/self/fd").map_err(|error| format!("/proc/self/fd: {error}"))?;
    let mut open: Vec<RawFd> = Vec::new();
    for entry in listed {
        let name = entry.map_err(|error| format!("/proc/self/fd: {error}"))?.file_name();
        open.extend(name.to_str().and_then(|it| it.parse::<RawFd>().ok()).filter(|fd| *fd > 2));
    }
    for fd in open {
        match close(fd) {
            // The descriptor of the listing itself is already closed.
            Ok(()) | Err(Errno::EBADF) => {}
            Err(error) => return Err(format!("descriptor {fd}: close: {error}")),
        }
    }
    Ok(())
}
