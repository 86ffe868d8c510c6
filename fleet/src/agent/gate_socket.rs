//! The listening socket of the gate. Only this program's user and its group reach it.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

/// For the group of the daemon.
const SOCKET_MODE: u32 = 0o660;

/// Listens at a path. The socket of an agent that ended is replaced.
///
/// # Errors
/// Another process listens there, or the directory cannot be written to. The message has help.
pub(super) fn listen(path: &Path) -> Result<UnixListener, String> {
    let failed = |error: io::Error| {
        let shown = path.display();
        format!(
            "{shown}: listen: {error}; help: check `socket` of the configuration, and its directory"
        )
    };
    let listener = match UnixListener::bind(path) {
        Err(error) if error.kind() == ErrorKind::AddrInUse && is_left(path) => {
            fs::remove_file(path).and_then(|()| UnixListener::bind(path))
        }
        bound => bound,
    };
    let listener = listener.map_err(failed)?;
    fs::set_permissions(path, Permissions::from_mode(SOCKET_MODE)).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

/// Returns whether the path is a socket on which no process listens.
fn is_left(path: &Path) -> bool {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let refused = |error: io::Error| error.kind() == ErrorKind::ConnectionRefused;
    is_socket && UnixStream::connect(path).is_err_and(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_socket_of_an_ended_agent_is_replaced_and_that_of_a_live_one_is_not() {
        let name = format!("toolexec-fleet-gate-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let first = listen(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, SOCKET_MODE);
        let why = listen(&path).unwrap_err();
        assert!(why.contains("; help: "), "{why}");
        drop(first);
        let second = listen(&path).unwrap();
        drop(second);
        fs::remove_file(&path).unwrap();
        fs::File::create(&path).unwrap();
        assert!(listen(&path).is_err(), "a file of another kind stays");
        fs::remove_file(&path).unwrap();
    }
}
