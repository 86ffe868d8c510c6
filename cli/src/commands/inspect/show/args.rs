//! The arguments of `toolexec show`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use crate::args::{FleetOption, FleetStoreOption, Format};
use crate::commands::inspect::place::PlaceOptions;

#[derive(Args)]
#[command(
    group = ArgGroup::new("of_record").args(["html", "patch"]),
    group = ArgGroup::new("shown_place").args(["spool", "dir", "fleet"]),
    after_help = "\
Example: toolexec show TR-20260209-160501Z-python-stats
         toolexec show --patch TR-20260209-160501Z-python-stats

Prints the state of a request, its history so far, and the statements of its records, which are not
verified here (`toolexec verify` does that). A unique part of an id, three characters or more, is
sufficient.
Exit status: 0 shown; 2 no such request; 3 the id is ambiguous, or nothing can be read.

--html renders one page for the record of a request, the last one if there are several. The page
loads nothing, runs nothing, and shows untrusted data only as text. It states whether the record
verifies; the page itself proves nothing. It is written to stdout or to a new FILE; an existing
file is never replaced. Exit status: 0 verified, or no key is known; 1 not verified (the page is
still written); 2 and 3 as above.
  toolexec show results/TS-20260209-161030Z-TR-20260209-160501Z-python-stats --html record.html

--patch prints the patch that the request asked for. The record must verify with a known key;
--result-keys names the keys of another host. A pipe or a file gets the exact bytes, for `git
apply`. On a terminal, control characters are shown by number. Exit status: 0 printed, or no
changes; 1 not verified, or no key is known; 2 no such request, or no patch; 3 as above.

--fleet shows a request by its complete id as the database states it, and fetches its record:
  toolexec show TR-20260209-160501Z-python-stats --fleet postgres://alice@db/toolexec --out ."
)]
pub(crate) struct ShowCommand {
    /// Show this request, result, or result directory
    #[arg(value_name = "ID|RESULT_DIR")]
    pub(super) id: String,
    /// Write the record as one HTML page to a new FILE, or to stdout
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(super) html: Option<PathBuf>,
    /// Print the patch of the record, the last one if there are several
    #[arg(long)]
    pub(super) patch: bool,
    /// Verify the record of the page or the patch with the result keys in this file
    /// [default: the key of the state directory]
    #[arg(long = "result-keys", value_name = "FILE", requires = "of_record")]
    pub(super) allowed_signers: Option<PathBuf>,
    #[command(flatten)]
    pub(super) place: PlaceOptions,
    #[command(flatten)]
    pub(super) fleet: FleetOption,
    #[command(flatten)]
    pub(super) store: FleetStoreOption,
    /// Keep the fetched result below this existing directory [default: not kept]
    #[arg(long, value_name = "DIR", requires = "fleet")]
    pub(super) out: Option<PathBuf>,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human", conflicts_with_all = ["html", "patch"])]
    pub(super) format: Format,
}
