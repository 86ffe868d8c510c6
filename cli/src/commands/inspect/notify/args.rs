//! The arguments of `toolexec notify`.

use std::path::PathBuf;

use clap::Args;

use super::super::place::PACKAGED_SPOOL;
use super::model::{NotifyForm, NotifyTopic, SpoolEventKind};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec notify --to-file notify.url --form ntfy --state notify.state --on waits,held

Runs until it is ended, and sends one POST for each event: a draft that waits (waits), a held
request (held), a new result (ends), and a daemon that admits nothing (stopped). The first start
announces what waits now, and no old result. With --state, a restart announces no event again.
A draft that changed less than two seconds ago is left for the next scan.
The json form is one line: {\"event\",\"request_id\",\"outcome\",\"risk_class\",\"sha256\",\"words\",\"at_utc\",
\"host\"}, where event is draft, held, ended or admission_stopped; absent facts are left out. Nothing
in it is verified. Without --with-text, no text of a request leaves this host.
A changed draft is announced again, 10 s after its last post at the earliest. At most 60 events are
posted within a minute; then one line has the number of the others, which follow later:
{\"event\":\"more_wait\",\"count\",\"at_utc\",\"host\"}.
An error of the receiver or the network is retried, also 408 and 429, as late as Retry-After says,
at most an hour. Other answers drop the event. At most 1000 events wait; older ones are dropped.
Exit status: 0 with --once, all was delivered; 1 with --once, an event was not; 3 otherwise.")]
pub(crate) struct NotifyCommand {
    /// Watch this spool
    #[arg(long, value_name = "DIR", default_value = PACKAGED_SPOOL)]
    pub(super) spool: PathBuf,
    /// Post to this https:// address; other users of the host can see it in the list of processes
    #[arg(long, value_name = "URL", required_unless_present = "to_file")]
    pub(super) to: Option<String>,
    /// Post to the https:// address in this file
    #[arg(long, value_name = "FILE", conflicts_with = "to")]
    pub(super) to_file: Option<PathBuf>,
    /// Post in this form
    #[arg(long, value_enum, default_value = "json")]
    pub(super) form: NotifyForm,
    /// Remember announced events in this file [default: until the end only]
    #[arg(long, value_name = "FILE")]
    pub(super) state: Option<PathBuf>,
    /// Announce these events, separated by commas [default: all]
    #[arg(long, value_enum, value_name = "EVENTS", value_delimiter = ',')]
    pub(super) on: Vec<NotifyTopic>,
    /// Add purpose and command of drafts and readable held requests, one line each, secrets masked
    #[arg(long)]
    pub(super) with_text: bool,
    /// Permit http:// to another host than this one
    #[arg(long)]
    pub(super) allow_http: bool,
    /// Look once, try to post each event once, and end
    #[arg(long)]
    pub(super) once: bool,
}

impl NotifyCommand {
    /// Returns the kinds of events to announce.
    pub(super) fn kinds(&self) -> Vec<SpoolEventKind> {
        match self.on[..] {
            [] => SpoolEventKind::ALL.to_vec(),
            _ => self.on.iter().map(|topic| topic.kind()).collect(),
        }
    }
}
