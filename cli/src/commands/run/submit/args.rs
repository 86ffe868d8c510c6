//! The arguments of `toolexec submit`.

use std::path::PathBuf;

use clap::Args;

use crate::args::Format;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec submit TR-20260209-160501Z-python-stats.md --spool /var/spool/toolexec

The request is checked first. Inputs are written first, then signatures, and the request last. If
the same request is already queued, only its missing signatures and AIS bundle are added.
Of several files, all are checked first: if one would be refused, none is submitted. They are
submitted in the order given, up to the first that fails.
A standing approval, SA-….md, is submitted in the same way, without inputs. The daemon admits it if
its signatures suffice, or revokes it if a rejection is among them.
Exit status: 0 submitted; 2 a request would be refused, and nothing is submitted; 3 usage or
internal error.
With --format json, the last line of stdout is one object: {\"request_id\",\"sha256\",\"path\",
\"added_signatures\"}. For a standing approval, `standing_id` replaces `request_id`.
Several files have a line each. A refusal is {\"request\",\"refused\",\"violations\"}.")]
pub(crate) struct SubmitCommand {
    /// Submit this approved request or standing approval with the signatures beside it
    #[arg(value_name = "REQUEST.md")]
    pub(crate) request: PathBuf,
    /// Submit these files too, in this order
    #[arg(value_name = "REQUEST.md", conflicts_with = "inputs")]
    pub(crate) more: Vec<PathBuf>,
    /// Read input files from this directory [default: <stem>.inputs/ beside the request]
    #[arg(long, value_name = "DIR")]
    pub(crate) inputs: Option<PathBuf>,
    /// Submit to this spool, which contains approved/
    #[arg(long, value_name = "DIR", default_value = "/var/spool/toolexec")]
    pub(crate) spool: PathBuf,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}
