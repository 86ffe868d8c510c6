//! `toolexec-fleet check`: prints the witness key, then checks every file of the configuration, the
//! signed list, the spool and the database. The key comes first, because the list that has it is
//! signed later.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use super::config::AgentConfig;
use super::fleet_list::{FleetListFiles, labels_in};
use super::link::{CALL_TIME_MAX, DatabaseLink, DatabaseTarget};
use super::state_directory::make_private;
use crate::bytes::ByteStore;
use crate::witness::Witness;

/// Checks the configuration of this file.
///
/// # Errors
/// The first problem. The message has help.
pub(crate) fn check(path: &Path) -> Result<(), String> {
    let config = AgentConfig::read(path)?;
    make_private(&config.state)?;
    let witness = Witness::open(&config.state, &config.witness_key, config.host.as_str());
    let witness = witness.map_err(|error| error.to_string())?;
    print(&format!("witness_key: \"{}\"", witness.verifier_line()))?;
    check_spool(&config)?;
    ByteStore::open(config.store.as_deref()).map_err(|error| error.to_string())?;
    let list = FleetListFiles::of(&config).read()?.list;
    labels_in(&list, &config.host, None)?;
    let target = DatabaseTarget::of(&config, &list);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start the runtime: {error}"))?;
    let mut link = DatabaseLink::new("toolexec-fleet check", CALL_TIME_MAX);
    let checked = runtime.block_on(link.database(&target)).map(|_| ());
    checked.map_err(|error| error.to_string())?;
    print(&format!("{}: good", path.display()))
}

/// The agent writes submissions, and reads results and the log.
fn check_spool(config: &AgentConfig) -> Result<(), String> {
    use rustix::fs::Access;
    let directories = [
        (config.approved(), Access::WRITE_OK | Access::EXEC_OK),
        (config.results(), Access::READ_OK | Access::EXEC_OK),
        (config.log.clone(), Access::READ_OK | Access::EXEC_OK),
    ];
    for (path, wanted) in directories {
        let shown = path.display();
        let found =
            fs::metadata(&path).map_err(|error| format!("{shown}: {}", spool::io_text(&error)))?;
        let is_allowed = rustix::fs::access(&path, wanted).is_ok();
        if !found.is_dir() || !is_allowed {
            return Err(format!(
                "{shown}: not a directory that this user may use; help: add the user to the groups \
                 toolexec-operators and toolexec-readers"
            ));
        }
    }
    Ok(())
}

fn print(line: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("stdout: {error}; help: check where stdout is written to"))
        }
        _ => Ok(()),
    }
}
