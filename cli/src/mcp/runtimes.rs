//! The tool `list_runtimes`: the runtimes of the policy, and whether the daemon reports it active.

use serde_json::{Value, json};
use spool::published_status;

use super::server_state::ServerState;
use crate::failure::Failure;

pub(super) fn list(state: &ServerState) -> Result<Value, Failure> {
    let Some(policy) = state.policy()? else {
        return Err(Failure::Message(
            "policy: unknown: no daemon has published one in public/; help: ask a person to start \
             this server with --policy"
                .into(),
        ));
    };
    let published = published_status(state.spool()).ok().map(|status| status.policy);
    let sha256 = policy.sha256().to_string();
    let ceilings = policy.ceilings();
    Ok(json!({
        "policy": {
            "name": policy.name(),
            "sha256": sha256,
            // As reported by the daemon; null if it reported none.
            "active": published.map(|it| it.sha256 == sha256),
        },
        "runtimes": policy.runtimes().map(|runtime| json!({
            "name": runtime.name(),
            "language": runtime.language().as_str(),
            "words": runtime.words(),
        })).collect::<Vec<_>>(),
        "limits": {
            "cpu_cores_max": cores(ceilings.cpu_milli),
            "memory_mb_max": ceilings.memory_mb,
            "time_sec_max": ceilings.time_sec,
            "pids_max": ceilings.pids,
            "open_files_max": ceilings.open_files,
            "file_bytes_max": ceilings.file_bytes,
            "stream_bytes_max": ceilings.stream_bytes,
            "artifacts_max": ceilings.artifacts,
            "input_bytes_max": ceilings.input_bytes,
        },
        "hosts": policy.hosts_offered().collect::<Vec<_>>(),
        "permission_needed_by": policy.permissions_cover(),
    }))
}

/// Formats cores as a request states them.
fn cores(milli: u64) -> String {
    let text = format!("{}.{:03}", milli / 1000, milli % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
