//! The `--state` option and its default.

use std::env;
use std::path::PathBuf;

use clap::Args;

use crate::failure::Failure;

#[derive(Args)]
pub(crate) struct StateOption {
    /// Use this state directory, with keys and ledger (`state:` of a daemon)
    /// [default: $XDG_STATE_HOME/toolexec, else ~/.local/state/toolexec]
    #[arg(long = "state", value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

impl StateOption {
    /// Returns the option's value, or the default of the XDG Base Directory specification.
    pub(crate) fn path(&self) -> Result<PathBuf, Failure> {
        if let Some(dir) = &self.dir {
            if dir.as_os_str().is_empty() {
                return Err(Failure::Message("--state: empty; help: name a directory".into()));
            }
            return std::path::absolute(dir).map_err(Failure::io(dir));
        }
        let absolute =
            |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = absolute("XDG_STATE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
        base.map(|base| base.join("toolexec")).ok_or_else(|| {
            let why = "HOME, XDG_STATE_HOME: no absolute path; help: name a directory with --state";
            Failure::Message(why.into())
        })
    }
}
