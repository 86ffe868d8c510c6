//! `toolexec hold`, `release` and `cancel`: places an order for the daemon beside a queued request.
//! It must never touch the request, and never report work as done that the daemon has yet to do.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use spool::{Inbox, OperatorOrder, SubmissionName};

use super::submit::approved_directory;
use crate::args::Format;
use crate::commands::inspect::place::PACKAGED_SPOOL;
use crate::commands::inspect::results::{records_among, result_names};
use crate::failure::Failure;
use crate::output::{self, human, report_refusal};

pub(in crate::commands) const HOLD_HELP: &str = "\
Example: toolexec hold TR-20260209-160501Z-python-stats

The request stays in approved/ until `toolexec release`, even across a restart of the daemon. After
the policy's held_sec_max it is refused. A running request continues; `toolexec cancel` ends it.
Writes the empty file <file>.hold beside the request; any user who may submit requests may do this.
Exit status: 0 held; 2 no such request is queued, or it is being cancelled; 3 the prefix is
ambiguous, usage or internal error.
With --format json, the last line of stdout is one object: {\"request_id\",\"order\",\"path\",
\"already_existed\"}. `path` is null if no file was needed.";

pub(in crate::commands) const RELEASE_HELP: &str = "\
Example: toolexec release TR-20260209-160501Z-python-stats

Removes only an operator's hold; other conditions of the request remain. The daemon evaluates it
again from the beginning and deletes <file>.hold and <file>.release.
Exit status: 0 no operator holds it any longer; 2 no such request is queued, or it is being
cancelled; 3 the prefix is ambiguous, usage or internal error.
With --format json, the output is that of `toolexec hold`.";

pub(in crate::commands) const CANCEL_HELP: &str = "\
Example: toolexec cancel TR-20260209-160501Z-python-stats

A queued request is refused (spool.cancelled); a running one is ended with outcome cancelled.
Either gets a signed record. This cannot be undone: a refused request may be submitted again, one
that ran may not. Writes the empty file <file>.cancel beside the request.
Exit status: 0 the cancellation is requested; 2 no such request is queued; 3 the prefix is
ambiguous, usage or internal error.
With --format json, the output is that of `toolexec hold`.";

#[derive(Args)]
pub(crate) struct OrderOptions {
    /// Select the queued request by id, file name, or a unique prefix
    #[arg(value_name = "REQUEST")]
    request: String,
    /// Use this spool, which contains approved/
    #[arg(long, value_name = "DIR", default_value = "/var/spool/toolexec")]
    spool: PathBuf,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// Limit of listed names.
const SHOWN_MAX: usize = 5;

enum OrderOutcome {
    New,
    /// The same order already existed.
    Existing,
    /// No hold existed.
    NotNeeded,
}

pub(in crate::commands) fn order(
    args: &OrderOptions,
    order: OperatorOrder,
) -> Result<ExitCode, Failure> {
    let dropbox = Inbox::open(&approved_directory(&args.spool)?)?;
    let name = match find_request(&dropbox, args)? {
        Ok(name) => name,
        Err(why) => return Ok(report_refusal(&why)),
    };
    match place_order(&dropbox, &args.spool, &name, order)? {
        Ok(placed) => {
            print_order(args, &name, order, &placed)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(why) => Ok(report_refusal(&why)),
    }
}

/// Places an order for a file named exactly. Returns the result or the refusal as a sentence.
pub(crate) fn order_file(
    spool: &Path,
    name: &str,
    order: OperatorOrder,
) -> Result<Result<String, String>, Failure> {
    let dropbox = Inbox::open(&approved_directory(spool)?)?;
    if !waiting(&dropbox)?.any(|it| it == name) {
        return Ok(Err(describe_position(spool, name.strip_suffix(".md").unwrap_or(name))?));
    }
    let placed = place_order(&dropbox, spool, name, order)?;
    Ok(placed.map(|placed| sentence(spool, name, order, &placed)))
}

fn place_order(
    dropbox: &Inbox,
    spool: &Path,
    name: &str,
    order: OperatorOrder,
) -> Result<Result<OrderOutcome, String>, Failure> {
    let id = name.strip_suffix(".md").unwrap_or(name);
    let lies_there = |order: OperatorOrder| dropbox.identity(order.file_name(name)).is_some();
    if order != OperatorOrder::Cancel && lies_there(OperatorOrder::Cancel) {
        let help = "draft a new request";
        return Ok(Err(format!("{id}: already cancelled, which cannot be undone; help: {help}")));
    }
    let placed = match order {
        OperatorOrder::Release if !lies_there(OperatorOrder::Hold) => OrderOutcome::NotNeeded,
        _ => {
            if order == OperatorOrder::Hold {
                // A leftover release would cancel this hold at once.
                dropbox.remove_order(name, OperatorOrder::Release)?;
            }
            match dropbox.place_order(name, order)? {
                true => OrderOutcome::New,
                false => OrderOutcome::Existing,
            }
        }
    };
    if dropbox.identity(name).is_none() {
        // The request was processed while the order was placed.
        dropbox.remove_order(name, order)?;
        return Ok(Err(describe_position(spool, id)?));
    }
    Ok(Ok(placed))
}

/// Returns the file names of queued requests.
fn waiting(dropbox: &Inbox) -> Result<impl Iterator<Item = String>, Failure> {
    Ok(dropbox.submission_names()?.into_iter().filter_map(|it| match it {
        SubmissionName::Request(name) => Some(name),
        SubmissionName::Invalid(_) => None,
    }))
}

/// Returns the file name of the request, or the reason why there is none.
fn find_request(dropbox: &Inbox, args: &OrderOptions) -> Result<Result<String, String>, Failure> {
    let typed = args.request.as_str();
    let mut begun: Vec<String> = waiting(dropbox)?.filter(|name| name.starts_with(typed)).collect();
    let exact = |name: &String| name == typed || name.strip_suffix(".md") == Some(typed);
    if let Some(at) = begun.iter().position(exact) {
        return Ok(Ok(begun.swap_remove(at)));
    }
    Ok(match begun.len() {
        1 => Ok(begun.swap_remove(0)),
        0 => Err(describe_position(&args.spool, typed.strip_suffix(".md").unwrap_or(typed))?),
        count => {
            let more = count.saturating_sub(SHOWN_MAX);
            begun.truncate(SHOWN_MAX);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            return Err(Failure::Message(format!(
                "{typed}: {count} waiting requests match: {}{more}; help: type more of the name",
                begun.join(", ")
            )));
        }
    })
}

/// Returns a sentence about a request that is not queued.
fn describe_position(spool: &Path, id: &str) -> Result<String, Failure> {
    if let Some(last) = records_among(spool, &result_names(spool)?, id).pop() {
        return Ok(format!(
            "{id}: no longer waiting: {}, see {}; help: run `toolexec show {id}{}`",
            last.as_str(),
            last.path.display(),
            spool_option(spool),
        ));
    }
    let draft = spool.join("drafts").join(format!("{id}.md"));
    if draft.is_file() {
        return Ok(format!(
            "{id}: a draft that was not submitted yet, {}; help: submit it with `toolexec submit`",
            draft.display()
        ));
    }
    Ok(format!(
        "{id}: no such waiting request in {}; help: list them with `toolexec list{}`",
        spool.join("approved").display(),
        spool_option(spool),
    ))
}

fn print_order(
    args: &OrderOptions,
    name: &str,
    order: OperatorOrder,
    placed: &OrderOutcome,
) -> Result<(), Failure> {
    let id = name.strip_suffix(".md").unwrap_or(name);
    if args.format == Format::Json {
        let path = args.spool.join("approved").join(order.file_name(name));
        let path = (!matches!(placed, OrderOutcome::NotNeeded)).then(|| output::path(&path));
        return output::line(serde_json::json!({
            "request_id": id,
            "order": order.as_str(),
            "path": path,
            "already_existed": matches!(placed, OrderOutcome::Existing),
        }));
    }
    output::line(sentence(&args.spool, name, order, placed))?;
    match order {
        OperatorOrder::Release => print_remaining_conditions(args, name),
        OperatorOrder::Hold | OperatorOrder::Cancel => Ok(()),
    }
}

/// Returns the `--spool` option for suggested commands; empty for the packaged spool.
fn spool_option(spool: &Path) -> String {
    match spool == Path::new(PACKAGED_SPOOL) {
        true => String::new(),
        false => format!(" --spool {}", human::name(spool)),
    }
}

fn sentence(spool: &Path, name: &str, order: OperatorOrder, placed: &OrderOutcome) -> String {
    let (id, at) = (name.strip_suffix(".md").unwrap_or(name), spool_option(spool));
    let text = match (order, placed) {
        (OperatorOrder::Hold, OrderOutcome::Existing) => {
            format!("already held until `toolexec release {id}{at}`")
        }
        (OperatorOrder::Hold, _) => format!(
            "held until `toolexec release {id}{at}`; if it already runs, end it with `toolexec \
             cancel {id}{at}`"
        ),
        (OperatorOrder::Release, OrderOutcome::NotNeeded) => "not held by an operator".to_owned(),
        (OperatorOrder::Release, OrderOutcome::Existing) => {
            "already released; the daemon decides it again".to_owned()
        }
        (OperatorOrder::Release, OrderOutcome::New) => {
            "released; the daemon decides it again".to_owned()
        }
        (OperatorOrder::Cancel, OrderOutcome::Existing) => {
            "already marked for cancellation".to_owned()
        }
        (OperatorOrder::Cancel, _) => format!(
            "marked for cancellation: refused if it waits, ended if it runs; `toolexec list{at}` \
             then shows its record"
        ),
    };
    format!("{id}: {text}")
}

/// Prints the remaining conditions of the request: a release removes only a hold.
fn print_remaining_conditions(args: &OrderOptions, name: &str) -> Result<(), Failure> {
    let held = spool::held_requests(&args.spool).remove(name);
    let waits = held.iter().flat_map(|it| &it.waits_for).filter(|it| it.code != "spool.held");
    for waits in waits {
        let (code, message) = (model::escape_line(&waits.code), model::escape_line(&waits.message));
        output::line(format_args!("    also waiting for {code}: {message}"))?;
    }
    Ok(())
}
