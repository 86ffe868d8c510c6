//! Where one user's embedded state is, and what may be read from it.

use std::env;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::options::StateOption;

impl StateOption {
    /// The state directory: as typed, else by the XDG base directory rules.
    pub(crate) fn path(&self) -> Result<PathBuf, Failure> {
        if let Some(dir) = &self.dir {
            return std::path::absolute(dir).map_err(Failure::io(dir));
        }
        let absolute =
            |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = absolute("XDG_STATE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
        base.map(|base| base.join("toolexec")).ok_or_else(|| {
            Failure::Said("no HOME and no XDG_STATE_HOME; name a directory with --state".into())
        })
    }
}

/// Reads at most `bytes_max` bytes of a file.
pub(crate) fn read_file(path: &Path, bytes_max: usize) -> Result<Vec<u8>, Failure> {
    let most = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    let file = File::open(path).map_err(Failure::io(path))?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(Failure::io(path))?;
    if bytes.len() > bytes_max {
        return Err(Failure::TooLarge(path.to_owned(), most));
    }
    Ok(bytes)
}
