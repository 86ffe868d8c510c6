//! What whoever started the program left open is not ours to have.

use std::fs;
use std::os::fd::RawFd;

use nix::errno::Errno;
use nix::unistd::close;

/// Closes all but standard input, output and error. Nothing of the program's own may be open yet.
///
/// # Errors
/// What is open cannot be told, or not be closed.
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
            // The listing itself was open, and is not any more.
            Ok(()) | Err(Errno::EBADF) => {}
            Err(error) => return Err(format!("descriptor {fd}: cannot be closed: {error}")),
        }
    }
    Ok(())
}
