//! Opens a regular file of the user who runs the program. Links are followed. It must never wait
//! for a FIFO or a device.

use std::fs::File;
use std::path::Path;

use rustix::fs::{Mode, OFlags, fstat, open};
use rustix::io::Errno;

use crate::beneath::{AllowedLinks, check_regular_file};
use crate::error::SpoolError;

pub(crate) fn open_file(path: &Path) -> Result<File, SpoolError> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = match open(path, flags, Mode::empty()) {
        Err(Errno::NXIO) => {
            return Err(SpoolError::FileKind { path: path.to_owned(), kind: "a socket" });
        }
        opened => opened.map_err(SpoolError::errno(path, "open"))?,
    };
    let stat = fstat(&opened).map_err(SpoolError::errno(path, "stat"))?;
    check_regular_file(&stat, path, AllowedLinks::Any)?;
    Ok(opened.into())
}
