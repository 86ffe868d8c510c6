//! The arguments of `toolexec submit`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use crate::args::{FleetOption, FleetStoreOption, Format};

#[derive(Args)]
#[command(
    group = ArgGroup::new("submit_place").args(["spool", "fleet"]),
    after_help = "\
Example: toolexec submit TR-20260209-160501Z-python-stats.md --spool /var/spool/toolexec
         toolexec submit TR-20260209-160501Z-python-stats.md --fleet postgres://alice@db/toolexec

The request is checked first. Inputs are written first, then signatures, and the request last. If
the same request is already queued, only its missing signatures and AIS bundle are added.
Of several files, all are checked first: if one would be refused, none is submitted. They are
submitted in the order given, up to the first that fails.
A standing approval, SA-….md, is submitted in the same way, without inputs. The daemon admits it if
its signatures suffice, or revokes it if a rejection is among them.
With --fleet, one host of the fleet claims the request, and every host of its audience receives a
standing approval. The database gives no authority: each host checks everything again.
Exit status: 0 submitted; 2 a request would be refused, and nothing is submitted; 3 usage or
internal error.
With --format json, the last line of stdout is one object: {\"request_id\",\"sha256\",\"path\",
\"added_signatures\"}. For a standing approval, `standing_id` replaces `request_id`.
With --fleet, `is_new` and `signatures_added` replace `path` and `added_signatures`.
Several files have a line each. A refusal is {\"request\",\"refused\",\"violations\"}."
)]
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
    #[command(flatten)]
    pub(crate) fleet: FleetOption,
    #[command(flatten)]
    pub(crate) store: FleetStoreOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}
