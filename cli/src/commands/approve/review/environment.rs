//! The environment of the tool as text, derived from the plan for the launcher: only facts.

use sandbox::plan::{PROXY_PORT, Plan, ProcView, SandboxNetwork, TmpUse};

/// The copy of the folder whose changes the run returns.
const WORK_COPY: &str = "/out/work";

/// Returns the tool's working directory, the same in every runtime.
pub(super) fn working_directory(plan: &Plan) -> &'static str {
    if plan.exec.work.is_some() { WORK_COPY } else { "/in" }
}

pub(super) struct SandboxPath {
    pub(super) path: String,
    pub(super) content: String,
    pub(super) writable: bool,
}

pub(super) fn paths(plan: &Plan) -> Vec<SandboxPath> {
    let limits = &plan.exec.limits;
    let runtime = &plan.sandbox.runtime;
    let read = |path: String, content: String| SandboxPath { path, content, writable: false };
    let write = |path: &str, content: String| SandboxPath {
        path: path.to_owned(),
        content,
        writable: true,
    };
    let programs = match runtime.tmp {
        TmpUse::Data => "its files cannot be executed",
        TmpUse::Programs => "its files can be executed",
    };
    let work = plan.exec.work.as_ref();
    let inputs = if work.is_some() { "inputs" } else { "inputs; the working directory" };
    let mut places = vec![
        read("/in".to_owned(), inputs.to_owned()),
        write(
            "/out",
            format!("at most {} bytes, {} files", limits.out_bytes_max, limits.out_inodes_max),
        ),
    ];
    places.extend(work.map(|work| {
        let folder = work.folder.as_str();
        write(WORK_COPY, format!("a copy of /in/{folder}; the working directory"))
    }));
    places.extend([
        write("/tmp", format!("at most {} bytes; {programs}", limits.tmp_bytes_max)),
        write("/dev/shm", format!("at most {} bytes", limits.shm_bytes_max)),
    ]);
    if let Some(root) = &runtime.root {
        let content = "its usr, bin, sbin, lib and opt replace the host's".to_owned();
        places.push(read(root.display().to_string(), content));
    }
    places.extend(
        runtime.mounts.iter().map(|it| read(it.display().to_string(), "from the host".to_owned())),
    );
    places.extend(runtime.caches.iter().map(|it| {
        read(it.target.display().to_string(), format!("from {} of the host", it.source.display()))
    }));
    match runtime.proc_view {
        ProcView::None => {}
        ProcView::Pid => places.push(read("/proc".to_owned(), "its own processes".to_owned())),
        ProcView::Full => places.push(read(
            "/proc".to_owned(),
            "its own processes, and the kernel's data on CPUs, memory and load".to_owned(),
        )),
    }
    places
}

pub(super) fn network(plan: &Plan) -> String {
    match plan.sandbox.network {
        SandboxNetwork::Nothing => "none: no interface is up".to_owned(),
        SandboxNetwork::Proxy => format!("only the proxy at 127.0.0.1:{PROXY_PORT}"),
    }
}
