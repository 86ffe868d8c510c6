//! Reads untrusted files up to a size limit.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::model::ConfigError;

pub(crate) fn read_bytes(path: &Path, bytes_max: usize) -> Result<Vec<u8>, ConfigError> {
    let failed = |error| ConfigError::Read(path.to_owned(), error);
    let mut bytes = Vec::new();
    let most = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    let file = File::open(path).map_err(failed)?;
    file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > bytes_max {
        return Err(ConfigError::TooLarge(path.to_owned(), bytes_max));
    }
    Ok(bytes)
}

pub(crate) fn text_of(path: &Path, bytes: Vec<u8>) -> Result<String, ConfigError> {
    String::from_utf8(bytes)
        .map_err(|_| ConfigError::Syntax(path.to_owned(), "not valid UTF-8".to_owned()))
}
