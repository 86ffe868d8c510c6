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
use crate::output::screen::Screen;
use crate::tui::{self, Hand};

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
    spool: PathBuf,
    /// Your name, as allowed_signers has it, to approve and reject from the keyboard
    #[arg(long = "as", value_name = "PRINCIPAL")]
    principal: Option<String>,
    /// An OpenSSH private key, as `toolexec approve` takes it
    #[arg(long, value_name = "FILE", requires = "principal", conflicts_with = "agent")]
    key: Option<PathBuf>,
    /// A key of the agent at $SSH_AUTH_SOCK
    #[arg(long, requires = "principal")]
    agent: bool,
    #[command(flatten)]
    rules: RulesOptions,
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

impl Watch {
    /// Returns the signer and key, if both were named.
    fn signing(&self) -> Option<SigningOptions> {
        let key = KeyOptions { key: self.key.clone(), agent: self.agent };
        let has_key = key.key.is_some() || key.agent;
        let principal = self.principal.clone().filter(|_| has_key)?;
        Some(SigningOptions { principal, key, fingerprint: None, label: None })
    }
}

/// Watches a spool until the user or a signal ends it.
pub(in crate::commands) fn watch(asked: &Watch) -> Result<ExitCode, Failure> {
    let place = spool_at(&asked.spool)?;
    let on_terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
    let can_draw = on_terminal && !Screen::of(&io::stdout()).is_dumb();
    if can_draw && asked.format == Format::Human {
        tui::show(&place, Hand::new(&place, asked.signing(), asked.rules.clone()))?;
    } else {
        changes::tell(&place, asked.format)?;
    }
    Ok(ExitCode::SUCCESS)
}
