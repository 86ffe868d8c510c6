//! `toolexec exec`: one command from the command line to its verified record. Drafts a request in a
//! private directory, shows it, asks, and runs exactly the bytes that were shown.

mod args;
mod artifacts;
mod drafting;
mod environment;
mod lock_file;
mod patch_report;
mod summary;

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use daemon::{BackendScope, RecordedRequest, user_name};
use model::Sha256;
use spool::replace_unchanged;
use validator::OneLine;

use super::embedded::{
    open_host_with, report_problems, start_streaming, stop_catching_signals, verify_record,
    watch_signals,
};
use super::run::exit_code;
use crate::clock;
use crate::commands::approve::review::{self, HostRules, InputTexts, ReviewData, ReviewVerdict};
use crate::failure::Failure;
use crate::output::progress::ToolOutput;
use crate::output::terminal::Terminal;
use crate::output::{self, human, pager};
use drafting::DraftDirectory;

pub(crate) use args::ExecCommand;

/// The request in messages: its file is private and does not stay.
const REQUEST: &str = "request";

pub(in crate::commands) fn exec(args: &ExecCommand) -> Result<ExitCode, Failure> {
    let rules = HostRules::of_invoker(&args.host)?;
    if args.yes && !rules.policy.may_skip_question() {
        let policy = rules.policy.name();
        return Ok(output::report_refusal(&format!(
            "--yes: policy `{policy}` requires the question; help: answer it at a terminal, or \
             pass a --policy with `approval.unasked: true`"
        )));
    }
    drafting::check_patch(args)?;
    let interrupted = watch_signals()?;
    // Before anything is copied: without a terminal the question cannot be answered.
    let mut terminal = if args.yes { None } else { Some(open_terminal()?) };
    let directory = DraftDirectory::create(&args.host)?;
    let environment = match environment::environment(args, &rules.policy, terminal.as_mut())? {
        Ok(environment) => environment,
        Err(code) => return Ok(code),
    };
    let policy = &rules.policy;
    let drafted = drafting::draft(args, policy, environment.as_ref(), directory.path())?;
    let Some(request) = drafted else { return Ok(ExitCode::from(2)) };
    if interrupted.load(Ordering::Relaxed) {
        return Err(Failure::Message("interrupted".into()));
    }
    let case = read_review(&request, rules)?;
    if let Some(why) = problem(&case) {
        human::print_to_stderr(Path::new(REQUEST), &case.bytes, &case.violations);
        return Ok(output::report_refusal(&why));
    }
    if let Some(terminal) = terminal
        && !confirm(terminal, &case, &args.out)?
    {
        output::note("not run");
        return Ok(ExitCode::from(1));
    }
    replace_unchanged(&case.path, &case.original, &case.bytes)?;
    run(args, &case, &interrupted)
}

fn open_terminal() -> Result<Terminal, Failure> {
    Terminal::open().map_err(|failure| {
        let help = "run it at a terminal, or pass --yes with a policy that permits it";
        Failure::with_help(&failure.problem(), help)
    })
}

/// Reads the request as the invoker would approve it now.
fn read_review(request: &Path, rules: HostRules) -> Result<ReviewData, Failure> {
    let uid = rustix::process::geteuid().as_raw();
    let name = user_name(uid).unwrap_or_else(|| format!("uid {uid}"));
    let name: OneLine = name.parse().map_err(|error| {
        Failure::Message(format!("the name of uid {uid}: {error}; help: correct /etc/passwd"))
    })?;
    let approver = Some((&name, clock::now()));
    ReviewData::read(request, None, rules, approver, InputTexts::Whole)
}

/// Returns the reason why the request would not run, if any.
fn problem(case: &ReviewData) -> Option<String> {
    let policy = case.rules.policy.name();
    match case.outcome_filled() {
        ReviewVerdict::Ready => None,
        ReviewVerdict::Pending => Some(format!(
            "policy `{policy}`: an approval is missing that you cannot give here; help: use \
             `toolexec draft`, `approve` and `submit`"
        )),
        ReviewVerdict::Refused => {
            Some(format!("policy `{policy}` refuses the run; help: correct the errors above"))
        }
    }
}

fn confirm(mut terminal: Terminal, case: &ReviewData, out: &Path) -> Result<bool, Failure> {
    terminal.show(&summary::text(case, out))?;
    loop {
        let answer = terminal.ask_fresh("Run it? [y/N, r shows the whole review] ")?;
        match answer.to_ascii_lowercase().as_str() {
            "y" | "yes" => return Ok(true),
            // The tool's output is all that goes to a redirected stdout.
            "r" if io::stdout().is_terminal() => {
                pager::page(&review::plain_text(case, InputTexts::Whole), false)?;
            }
            "r" => terminal.show(&review::plain_text(case, InputTexts::Whole))?,
            _ => return Ok(false),
        }
    }
}

fn run(
    args: &ExecCommand,
    case: &ReviewData,
    interrupted: &AtomicBool,
) -> Result<ExitCode, Failure> {
    // That of the review: only what was shown may run.
    let policy = case.rules.policy.clone();
    let backends = match &case.preview {
        Some(preview) => BackendScope::of(&policy, preview.request()),
        None => BackendScope::Nothing,
    };
    let host = open_host_with(&args.host, policy, backends)?;
    let id = case.path.file_stem().unwrap_or_default().to_string_lossy();
    let (streamed, problem) = ToolOutput::new(&args.host.results_of()?, &id);
    let live = start_streaming(&host, streamed)?;
    let uid = rustix::process::geteuid().as_raw();
    let shown = Sha256::of(&case.bytes);
    let recorded = host
        .run_file_if_unchanged(&case.path, shown, uid, &mut || interrupted.load(Ordering::Relaxed));
    drop(live);
    stop_catching_signals(interrupted);
    let recorded = recorded?;
    report_problems(Path::new(REQUEST), &case.bytes, &recorded);
    let verified = verify_record(&host, recorded.receipt.path()).is_some();
    // Only files whose digests were just verified.
    let copied = match verified {
        true => artifacts::copy(recorded.receipt.path(), &args.out),
        false => Ok(0),
    };
    let mut is_complete = verified;
    for failure in copied.as_ref().err().into_iter().chain(problem.take().as_ref()) {
        output::note(format_args!("the record has all output, but it was not copied: {failure}"));
        is_complete = false;
    }
    if verified && copied.is_ok() {
        patch_report::print(case, recorded.receipt.path(), &args.out);
    }
    output::stderr_line(last_line(&recorded, copied.unwrap_or(0), &args.out, verified));
    Ok(exit_code(recorded.outcome, is_complete))
}

fn last_line(recorded: &RecordedRequest, copied: usize, out: &Path, verified: bool) -> String {
    let files = match copied {
        0 => String::new(),
        1 => format!("1 file in {}, ", human::name(out)),
        more => format!("{more} files in {}, ", human::name(out)),
    };
    let verified = if verified { "" } else { " (NOT VERIFIED)" };
    let record = human::name(recorded.receipt.path());
    format!("{}: {files}record {record}{verified}", recorded.outcome)
}
