//! What may be typed after `list`, `status`, `show`, `wait` and `watch`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{Format, RulesOptions, StateOption};

/// Which directories are looked at.
#[derive(Args)]
pub(crate) struct PlaceOptions {
    /// The spool [default: /var/spool/toolexec, or the embedded state where that is not there]
    #[arg(long, value_name = "DIR", conflicts_with = "dir")]
    pub(crate) spool: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) state: StateOption,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec list --spool /var/spool/toolexec --waiting

States: waiting, held (for somebody's answer), claimed, staging, running, publishing (by the
daemon's word), interrupted (in flight when the daemon died: its next start tells the end),
recorded (there is a record, and the request has not left approved/ yet, or was dropped again),
else the outcome of the record. What results say of themselves is not verified here.
Lists a spool, or the embedded state if none is named and /var/spool/toolexec is not there.")]
pub(crate) struct List {
    /// Only what has no record yet
    #[arg(long)]
    pub(crate) waiting: bool,
    #[command(flatten)]
    pub(crate) place: PlaceOptions,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec status --spool /var/spool/toolexec

Whether the daemon lives is seen from the lock that it holds, not from what it wrote; then what
waits, what runs and how long it may, the last outcomes and the room that is left. Exits 0 if the
daemon serves and admits, 1 if not (or that cannot be seen), 3 if there is no spool.")]
pub(crate) struct Status {
    /// The spool
    #[arg(long, value_name = "DIR", default_value = "/var/spool/toolexec")]
    pub(crate) spool: PathBuf,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec show TR-20260209-160501Z-python-stats

Where a request is now, what is known of it so far, and what its records say of themselves, which
is not verified here (`toolexec verify` does). Part of an id will do where no other has it. Exits
0, 2 if there is no such request, 3 if several are meant or nothing can be read.

--html makes one page of a record, of a request's last one: it loads nothing, runs nothing, and
shows what others wrote as text only. Such a page says whether the record verifies; the page itself
proves nothing. It goes to stdout, or to a new FILE; one that exists is never replaced. Then the
exit code is 0 if the record verified or no key is known, 1 if it did not verify (the page is
written all the same), 2 and 3 as above.
  toolexec show results/TS-20260209-161030Z-TR-20260209-160501Z-python-stats --html record.html")]
pub(crate) struct Show {
    /// A request, a result, or the directory of a result
    #[arg(value_name = "ID|RESULT_DIR")]
    pub(crate) id: String,
    /// Write one HTML page of the record, to a new FILE or to stdout
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) html: Option<PathBuf>,
    /// Keys of results to trust, for the page [default: the key of the state]
    #[arg(long, value_name = "FILE", requires = "html")]
    pub(crate) allowed_signers: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: PlaceOptions,
    #[arg(long, value_enum, default_value = "human", conflicts_with = "html")]
    pub(crate) format: Format,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec wait TR-20260209-160501Z-python-stats --timeout 600

Waits until each request has its record. One that has several (it was dropped again, and refused)
has the record of its run. Prints a line for each, in the order of their ends, and exits as `run`
would: 0 if every outcome is ok, 1 if a tool ended otherwise, 2 if one was refused or there is no
such request (any more), 3 if one had no cell or an end that nobody knows, or the time is over. The
highest of these counts. Nothing is verified here.
Where stderr is a terminal it shows meanwhile how far the requests are. --follow adds what the tool
of the one request that is named writes to stdout, on stderr, each line escaped and behind `| `.")]
pub(crate) struct Wait {
    /// Requests; part of an id will do where no other has it
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// Show what the tool writes to stdout while it runs, for one request
    #[arg(long)]
    pub(crate) follow: bool,
    /// How long to wait at most [default: without end]
    #[arg(long, value_name = "SEC")]
    pub(crate) timeout: Option<u64>,
    #[command(flatten)]
    pub(crate) place: PlaceOptions,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec watch --spool /var/spool/toolexec

On a terminal of at least 80 columns and 20 rows: what waits, what runs and what it uses, and how
the last ones ended; `?` shows the keys, q ends it. `r` shows the review of a request, and with
--as and --key (or --agent) `a` approves one and `x` rejects it, just as those commands do.
Elsewhere: a line for each change of a request or of the daemon, until it is ended or nobody reads.
With --format json each line is an object {\"at_utc\",\"request_id\",\"from\",\"to\",\"result_id\"}, or
{\"at_utc\",\"daemon\"}; what is there at the beginning comes first, from null.")]
pub(crate) struct Watch {
    /// The spool
    #[arg(long, value_name = "DIR", default_value = "/var/spool/toolexec")]
    pub(crate) spool: PathBuf,
    /// Your name, as allowed_signers has it, to approve and reject from the keyboard
    #[arg(long = "as", value_name = "PRINCIPAL")]
    pub(crate) principal: Option<String>,
    /// An OpenSSH private key, as `toolexec approve` takes it
    #[arg(long, value_name = "FILE", requires = "principal", conflicts_with = "agent")]
    pub(crate) key: Option<PathBuf>,
    /// A key of the agent at $SSH_AUTH_SOCK
    #[arg(long, requires = "principal")]
    pub(crate) agent: bool,
    #[command(flatten)]
    pub(crate) rules: RulesOptions,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}
