//! `toolexec hook`: answers a coding agent that is about to run a command in its own shell. Every
//! failure must end with the exit status that blocks the command.

mod answer;
mod args;
mod call;
mod fitting;

use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::ExitCode;

use policies::permissions::{PermissionSource, Subject};
use rustix::fs::{CWD, Mode, OFlags};
use validator::StandingApproval;

use crate::failure::Failure;
use crate::mcp::published_standing;
use crate::output::report_refusal;
use crate::random::random_word;
use answer::HookDecision;
use call::HookCall;

pub(crate) use args::HookCommand;

/// Limit of a call.
const CALL_BYTES_MAX: u64 = 1 << 20;

/// The exit status is 2 also after a failure: an agent takes 3 as permission to go on.
pub(in crate::commands) fn hook(args: &HookCommand) -> ExitCode {
    match respond(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report_refusal(&format!("hook {}: {failure}", args.coding_agent)),
    }
}

fn respond(args: &HookCommand) -> Result<(), Failure> {
    let rules = args.coding_agent.hook();
    let HookCall::ShellCommand(command) = call::read(&read_call()?, rules)? else { return Ok(()) };
    let standing = standing_approvals(args).map_err(|failure| failure.problem());
    let standing = standing.as_deref().map_err(String::as_str);
    let otherwise = if args.ask && rules.can_ask { HookDecision::Ask } else { HookDecision::Deny };
    let answer = answer::answer(&command, standing, otherwise);
    let mut stdout = io::stdout().lock();
    // Unlike other output: an agent that gets no answer goes on.
    let written = writeln!(stdout, "{}", answer.json(rules)).and_then(|()| stdout.flush());
    written.map_err(Failure::io(Path::new("stdout")))
}

fn read_call() -> Result<Vec<u8>, Failure> {
    let stdin = Path::new("stdin");
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(CALL_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(Failure::io(stdin))?;
    match bytes.len() > usize::try_from(CALL_BYTES_MAX).unwrap_or(usize::MAX) {
        true => Err(Failure::TooLarge(stdin.to_owned(), CALL_BYTES_MAX)),
        false => Ok(bytes),
    }
}

/// Returns the standing approvals that the agent may use. Without a name it has none.
fn standing_approvals(args: &HookCommand) -> Result<Vec<StandingApproval>, Failure> {
    let Some(name) = args.agent.clone() else { return Ok(Vec::new()) };
    // A workflow that no standing approval names.
    let subject = format!("hook-{}", random_word()?).parse::<Subject>().map_err(|error| {
        Failure::Message(format!("the subject: {error}; help: report this as a bug"))
    })?;
    let source = PermissionSource { name, subject, accesscontrol: None };
    published_standing::usable_in(&open_public(&args.spool)?, &source)
}

fn open_public(spool: &Path) -> Result<OwnedFd, Failure> {
    let public = spool.join("public");
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, &public, flags, Mode::empty())
        .map_err(|errno| Failure::io(&public)(errno.into()))
}
