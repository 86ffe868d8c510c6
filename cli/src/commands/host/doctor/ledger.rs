//! `toolexec doctor --spool --rebuild-ledger`: rebuilds a lost ledger on an operator's order. It
//! must never change a good ledger, nor leave files that the daemon's user cannot write.

use std::fs;

use spool::{LedgerOrder, RunFacts, SpoolPaths, check_ledger, rebuild_ledger};

use crate::args::files::require_owner;
use crate::clock::now;
use crate::failure::Failure;
use crate::output;

pub(super) fn rebuild(places: &SpoolPaths) -> Result<(), Failure> {
    let state = &places.state;
    require_owner(state)?;
    let ledger = state.join("ledger");
    if check_ledger(places, &mut daemon::was_begun).is_ok() {
        output::note(format_args!("{}: valid; nothing to rebuild", ledger.display()));
        return Ok(());
    }
    let by_uid = operator_uid();
    let order = LedgerOrder { at: now(), by_uid, by: daemon::user_name(by_uid) };
    let done = rebuild_ledger(places, &mut facts, order)?;
    let old = done.old.map(|old| format!("; the old file is {}", old.display()));
    output::note(format_args!(
        "{}: rebuilt by order of uid {by_uid}: {} lines kept, {} unreadable, {} runs added{}",
        ledger.display(),
        done.kept,
        done.lost,
        done.added,
        old.unwrap_or_default()
    ));
    Ok(())
}

/// Returns the uid of the login session, if the kernel knows it: `sudo` changes every other id.
fn operator_uid() -> u32 {
    const UNSET: u32 = u32::MAX;
    let login = fs::read_to_string("/proc/self/loginuid").ok();
    let login = login.and_then(|text| text.trim().parse().ok()).filter(|uid| *uid != UNSET);
    let sudo = || std::env::var("SUDO_UID").ok()?.parse().ok();
    login.or_else(sudo).unwrap_or_else(|| rustix::process::getuid().as_raw())
}

fn facts(result: &std::path::Path) -> Option<RunFacts> {
    if !daemon::was_begun(result) {
        return None;
    }
    let claims = records::claims(result)?;
    let text = |key: &str| claims.get(key)?.as_str().map(str::to_owned);
    Some(RunFacts {
        request_id: text("request_id")?,
        request_sha256: text("request_sha256")?,
        // The record of a replay states no number: a replay uses nothing up.
        standing: claims["standing"]["use"].as_u64().and_then(|number| {
            let sha256 = claims["standing"]["sha256"].as_str()?;
            Some((sha256.to_owned(), number))
        }),
    })
}
