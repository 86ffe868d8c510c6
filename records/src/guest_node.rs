//! The facts about the virtual machine of a run, and their lines in the text of a record. The
//! verifier writes the same lines from the facts.

use policies::{GrantedMachine, VmAccelerator};

use crate::guest_report::GuestReport;
use crate::yaml::FactNode;

/// Stated for every run with TCG.
const TCG_BOUNDARY: &str =
    "- Guest boundary: TCG is not a hypervisor boundary; count on the sandbox only";

/// Returns the block of the front matter. What the guest would have reported is null if nothing
/// is known of it.
pub(crate) fn machine_node(granted: &GrantedMachine, report: Option<&GuestReport>) -> FactNode {
    let known = |value: Option<u64>| value.map_or(FactNode::Null, FactNode::Uint);
    let kernel = report.and_then(|it| it.kernel.as_deref());
    FactNode::Map(vec![
        ("accelerator", FactNode::Keyword(granted.accelerator.as_str())),
        ("root", FactNode::text(&granted.root)),
        ("guest_memory_mb", FactNode::Uint(granted.memory_mb)),
        ("time_ms_max", FactNode::Uint(granted.time_ms)),
        ("start_ms_max", FactNode::Uint(granted.start_ms)),
        ("status_from", FactNode::Keyword("guest")),
        ("ending", report.map_or(FactNode::Null, |it| FactNode::Keyword(it.ending.as_str()))),
        ("guest_kernel", kernel.map_or(FactNode::Null, FactNode::text)),
        ("boot_ms", known(report.and_then(|it| it.boot_ms))),
        ("tool_ms", known(report.and_then(|it| it.tool_ms))),
        ("oom_kills", known(report.map(|it| it.oom_kills))),
        ("pids_refused", known(report.map(|it| it.pids_refused))),
    ])
}

/// Returns the lines of the text.
pub(crate) fn lines(granted: &GrantedMachine) -> Vec<String> {
    let GrantedMachine { accelerator, root, memory_mb, time_ms, start_ms } = granted;
    machine_lines((accelerator.as_str(), root), [*memory_mb, *time_ms, *start_ms])
}

/// Returns the lines for an accelerator and a root, the guest's memory in MiB, the time of the
/// tool, and the sandbox's time besides.
pub(crate) fn machine_lines(
    (accelerator, root): (&str, &str),
    [memory_mb, time_ms, start_ms]: [u64; 3],
) -> Vec<String> {
    let machine = format!(
        "- Guest: accelerator {accelerator}, root {root}, memory {memory_mb} MiB, status from the \
         guest"
    );
    let time = format!(
        "- Guest time: {time_ms} ms for the tool, enforced on the guest; the sandbox has \
         {start_ms} ms more for its start and end"
    );
    let is_tcg = accelerator == VmAccelerator::Tcg.as_str();
    [machine, time].into_iter().chain(is_tcg.then(|| TCG_BOUNDARY.to_owned())).collect()
}
