//! The files with the keys that the console trusts for results and logs. They are read once, before
//! the program restricts itself.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use policies::SIGNERS_BYTES_MAX;
use records::Trust;
use records::log::PublicLogKey;

use crate::options::Options;

/// The trusted keys. Without them the pages say that nothing was verified.
pub(crate) struct ConsoleTrust {
    pub(crate) results: Option<Trust>,
    pub(crate) logs: Vec<PublicLogKey>,
}

impl ConsoleTrust {
    pub(crate) fn read(options: &Options) -> Result<Self, String> {
        let logs = options.log_key.as_deref().map_or(Ok(Vec::new()), log_keys)?;
        let results = options.result_keys.as_deref().map(|path| {
            let trust = Trust::from_allowed_signers(&text(path)?);
            let trust = trust.map_err(|error| format!("{}: {error}", path.display()))?;
            Ok::<_, String>(trust.with_logs(logs.clone()))
        });
        Ok(Self { results: results.transpose()?, logs })
    }
}

/// Reads a log's keys: one verifier line for each key that it ever had.
fn log_keys(path: &Path) -> Result<Vec<PublicLogKey>, String> {
    let text = text(path)?;
    let lines = text.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with('#'));
    let keys: Option<Vec<PublicLogKey>> = lines.map(PublicLogKey::from_verifier_line).collect();
    keys.filter(|keys| !keys.is_empty()).ok_or_else(|| {
        format!(
            "{}: not verifier lines of a log; help: write the output of `toolexec keys show \
             --format verifier`",
            path.display()
        )
    })
}

/// Reads a text file of bounded size.
pub(crate) fn text(path: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| {
        let shown = path.display();
        format!("{shown}: {error}; help: name a text file that this user may read")
    };
    let limit = u64::try_from(SIGNERS_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    let mut text = String::new();
    let file = File::open(path).map_err(failed)?;
    file.take(limit).read_to_string(&mut text).map_err(failed)?;
    match text.len() > SIGNERS_BYTES_MAX {
        true => Err(format!("{}: larger than 1 MiB; help: shorten the file", path.display())),
        false => Ok(text),
    }
}
