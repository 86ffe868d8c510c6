//! What may be typed to have one waiting request held, let go on, or ended.

use std::path::PathBuf;

use clap::Args;

use crate::args::Format;

pub(crate) const HOLD_HELP: &str = "\
Example: toolexec hold TR-20260209-160501Z-python-stats

The request stays in approved/ until `toolexec release`, also over a restart of the daemon; after
held_sec_max of the policy it is refused. One that runs already runs on: `toolexec cancel` ends it.
Drops the empty file <file>.hold beside the request; who may promote may do that.
Exits 0 if it lies there, 2 if no such request waits or it is to be cancelled, 3 if several
begin so.
With --format json the last line of stdout is one object:
{\"request_id\",\"order\",\"path\",\"was_there\"}; `path` is null where nothing had to be dropped.";

pub(crate) const RELEASE_HELP: &str = "\
Example: toolexec release TR-20260209-160501Z-python-stats

Takes a hold back, and nothing else: what else the request waits for, it waits for. The daemon
decides it anew from the beginning and takes <file>.hold and <file>.release away.
Exits 0 if nothing of an operator holds it any longer, 2 if no such request waits or it is to be
cancelled, 3 if several begin so.
With --format json as `toolexec hold`.";

pub(crate) const CANCEL_HELP: &str = "\
Example: toolexec cancel TR-20260209-160501Z-python-stats

One that waits is refused (spool.cancelled); one that runs is ended, outcome cancelled. Either has
its signed record. It cannot be taken back; what was refused may be promoted again, what ran may
not. Drops the empty file <file>.cancel beside the request.
Exits 0 if it lies there, 2 if no such request waits, 3 if several begin so.
With --format json as `toolexec hold`.";

#[derive(Args)]
pub(crate) struct OrderOptions {
    /// A request that waits: its id, its file's name, or a beginning that only it has
    #[arg(value_name = "REQUEST")]
    pub(crate) request: String,
    /// The spool with the approved/ directory
    #[arg(long, value_name = "DIR", default_value = "/var/spool/toolexec")]
    pub(crate) spool: PathBuf,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}
