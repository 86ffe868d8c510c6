//! `toolexec watch`: shows a spool as it changes. On a terminal it uses the full screen, which is
//! restored on exit; elsewhere it prints a line per change.

mod changes;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::place::spool_at;
use crate::args::{Format, KeyOptions, RulesOptions, SigningOptions};
use crate::failure::Failure;
use crate::output::screen::OutputScreen;
use crate::tui::{self, SpoolActions};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec watch --spool /var/spool/toolexec

On a terminal of at least 80 columns and 20 rows: queued requests, requests in flight with their
usage, and the latest outcomes. `?` shows the keys, q quits. `r` shows the review of a request;
with --approver and --key (or --ssh-agent) `a` approves it and `x` rejects it, like the commands
of these names.
Elsewhere: a line for each change of a request or of the daemon, until the command is ended or its
output is closed.
With --format json, each line is one object: {\"at_utc\",\"request_id\",\"from\",\"to\",\"result_id\"}, or
{\"at_utc\",\"daemon\"}. The initial state comes first, with `from` null.")]
pub(crate) struct WatchCommand {
    /// Watch this spool
    #[arg(long, value_name = "DIR", default_value = "/var/spool/toolexec")]
    spool: PathBuf,
    /// Approve and reject from the keyboard as this principal of allowed_signers
    #[arg(long = "approver", value_name = "PRINCIPAL")]
    principal: Option<String>,
    /// Sign with this OpenSSH private key, as `toolexec approve` does
    #[arg(long, value_name = "FILE", requires = "principal", conflicts_with = "agent")]
    key: Option<PathBuf>,
    /// Sign with a key of the SSH agent at $SSH_AUTH_SOCK
    #[arg(long = "ssh-agent", requires = "principal")]
    agent: bool,
    /// Use the SSH agent's key with this fingerprint; required if the agent holds several
    #[arg(long, value_name = "SHA256:…", requires = "agent")]
    fingerprint: Option<records::KeyFingerprint>,
    #[command(flatten)]
    rules: RulesOptions,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

impl WatchCommand {
    /// Returns the signer and key, if both were named.
    fn signing(&self) -> Option<SigningOptions> {
        let key = KeyOptions { key: self.key.clone(), agent: self.agent };
        let has_key = key.key.is_some() || key.agent;
        let principal = self.principal.clone().filter(|_| has_key)?;
        Some(SigningOptions { principal, key, fingerprint: self.fingerprint, label: None })
    }
}

pub(in crate::commands) fn watch(args: &WatchCommand) -> Result<ExitCode, Failure> {
    let place = spool_at(&args.spool)?;
    let on_terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
    let can_draw = on_terminal && !OutputScreen::of(&io::stdout()).is_dumb();
    if can_draw && args.format == Format::Human {
        tui::show(&place, SpoolActions::new(&place, args.signing(), args.rules.clone()))?;
    } else {
        changes::print_changes(&place, args.format)?;
    }
    Ok(ExitCode::SUCCESS)
}
