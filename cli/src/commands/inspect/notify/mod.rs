//! `toolexec notify`: posts events of a spool to a webhook. The daemon has no network, so this is a
//! client of the spool. It must never write there, print the address of the receiver, or send text
//! of a request without `--with-text`.

mod address;
mod announced;
mod args;
mod confine;
mod document;
mod drafts;
mod limits;
mod message;
mod model;
mod notifier;
mod queue;
mod receiver;
mod retry;
mod spool_look;
mod state_file;

use std::fs;
use std::process::ExitCode;
use std::time::Duration;

use super::change_watcher::ChangeWatcher;
use super::place::spool_at;
use crate::failure::Failure;
use crate::output;
use address::ReceiverAddress;
use confine::confine;
use notifier::{Notifier, NotifyProgress};
use receiver::EventReceiver;
use spool_look::SpoolReader;
use state_file::NotifyState;

pub(crate) use args::NotifyCommand;

/// Under load every file causes a hint. One look handles those of this period.
const REST: Duration = Duration::from_millis(200);
const HOST_CHARS_MAX: usize = 64;

pub(in crate::commands) fn notify(args: &NotifyCommand) -> Result<ExitCode, Failure> {
    let place = spool_at(&args.spool)?;
    let hints = ChangeWatcher::of(&place, &["drafts", "results", "public", "public/held"]);
    let mut notifier = Notifier {
        reader: SpoolReader::new(&place, args.kinds(), args.with_text),
        receiver: EventReceiver::new(ReceiverAddress::of(args)?)?,
        state: NotifyState::open(args.state.as_deref())?,
        form: args.form,
        host: host_name(),
        progress: NotifyProgress::default(),
    };
    confine(&place, args.state.as_deref())?;
    if args.once {
        let code = if notifier.announce_once() { 0 } else { 1 };
        return Ok(ExitCode::from(code));
    }
    output::note(format_args!("notify: watching {}", place.display()));
    loop {
        let rest = notifier.step();
        std::thread::sleep(REST.min(rest));
        hints.wait(rest.saturating_sub(REST), None);
    }
}

/// Returns the name of this host, from the characters that a header may have.
fn host_name() -> String {
    let read = |path: &str| fs::read_to_string(path).ok().filter(|name| !name.trim().is_empty());
    let name = read("/proc/sys/kernel/hostname").or_else(|| read("/etc/hostname"));
    let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name = name.unwrap_or_default();
    let name: String = name.trim().chars().filter(plain).take(HOST_CHARS_MAX).collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}
