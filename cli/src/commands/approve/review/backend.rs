//! The backend of a run, with the digests of its files. The sandbox alone has none, and is not
//! shown.

use policies::{BackendFile, BackendKind, GrantedBackend, RunGrant, VmAccelerator};
use serde_json::{Value, json};
use validator::reveal_line;

use super::page::ReviewPage;
use crate::output::{self, human};

/// Returns the backend of a run that has more than the sandbox alone.
pub(crate) fn further(grant: Option<&RunGrant>) -> Option<&GrantedBackend> {
    grant.map(RunGrant::backend).filter(|granted| granted.kind != BackendKind::Sandbox)
}

pub(super) fn print(page: &mut ReviewPage, granted: &GrantedBackend) {
    page.title("Backend");
    page.row("name", reveal_line(&granted.name));
    page.row("kind", granted.kind);
    if let Some(machine) = &granted.machine {
        page.row("accelerator", machine.accelerator);
        page.row("root", reveal_line(&machine.root));
        page.row("guest", format_args!("{} MiB, {} ms", machine.memory_mb, machine.time_ms));
        if machine.accelerator == VmAccelerator::Tcg {
            page.row("boundary", "the sandbox only; TCG is not a hypervisor boundary");
        }
    }
    for BackendFile { role, path, sha256 } in &granted.files {
        page.row(role, format_args!("{}, sha256 {sha256}", human::name(path)));
    }
}

pub(super) fn json(granted: &GrantedBackend) -> Value {
    let file = |file: &BackendFile| {
        json!({
            "role": file.role,
            "path": output::path(&file.path),
            "sha256": file.sha256.to_string(),
        })
    };
    let mut object = json!({
        "name": granted.name,
        "kind": granted.kind.as_str(),
        "files": granted.files.iter().map(file).collect::<Vec<_>>(),
    });
    if let Some(machine) = &granted.machine {
        object["machine"] = json!({
            "accelerator": machine.accelerator.as_str(),
            "root": machine.root,
            "guest_memory_mb": machine.memory_mb,
            "time_ms_max": machine.time_ms,
            "start_ms_max": machine.start_ms,
        });
    }
    object
}
