//! `permission get`: prints the permission state of each tool.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use policies::permissions::{
    PermissionChange, PermissionError, PermissionManager, PermissionTerms, ToolAuthorizationState,
};
use serde_json::{Value, json};
use spool::PermissionStoreError;
use validator::reveal_line;

use super::error::PermissionCommandError;
use super::store::{QuestionOptions, StoreOptions, source_json};
use crate::args::Format;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec permission get --agent core --subject wf-1 toolexec.run.python
         toolexec permission get --from question.json --spend

question.json is {\"source\": {\"name\": \"core\", \"subject\": \"wf-1\", \"accesscontrol\": null}, \"tools\":
{\"toolexec.run.python\": {\"requests\": [{\"input\": {\"argv\": [\"python\", \"a.py\"]}}]}}}. The command
changes no permission and uses up nothing, except with --spend. It makes a missing store.
Exit status: 0 every tool is APPROVED; 1 at least one is not; 2 invalid question; 3 the store
cannot be read, or a usage error.
With --format json, stdout is one object: {\"source\",\"states\",\"reasons\",\"spent\",\"traceparent\"}.
`states` maps tools to states.")]
pub(crate) struct PermissionGetCommand {
    #[command(flatten)]
    question: QuestionOptions,
    /// Use up limited grants, all or none, because the calls begin now
    #[arg(long)]
    spend: bool,
    #[command(flatten)]
    store: StoreOptions,
}

pub(super) fn get(args: &PermissionGetCommand) -> Result<ExitCode, PermissionCommandError> {
    let (source, calls) = args.question.read()?;
    let moment = args.store.moment()?;
    let mut store = args.store.open(PermissionTerms::default())?;
    let found = store.explain(&source, &calls, &moment)?;
    let state = |found: &policies::permissions::ToolFinding| found.state();
    let approved =
        !calls.is_empty() && found.values().all(|it| state(it) == ToolAuthorizationState::Approved);
    let spent = match args.spend && approved {
        true => match store.spend(&source, &calls, &moment) {
            // Another caller used the grants first.
            Err(PermissionStoreError::Refused(blocked @ PermissionError::Blocked(..))) => {
                output::note(blocked);
                return Ok(ExitCode::from(1));
            }
            spent => spent?,
        },
        false => None,
    };
    match args.store.format {
        Format::Human => {
            for (tool, found) in &found {
                let tool = reveal_line(tool.as_str());
                output::line(format_args!("{tool}: {} ({found})", found.state()))?;
            }
        }
        Format::Json => {
            let states: BTreeMap<_, _> = found.iter().map(|(tool, it)| (tool, state(it))).collect();
            let reasons: BTreeMap<_, _> =
                found.iter().map(|(tool, it)| (tool, it.to_string())).collect();
            output::line(json!({
                "source": source_json(&source),
                "states": states,
                "reasons": reasons,
                "spent": uses(spent.as_ref()),
                "traceparent": moment.traceparent.to_string(),
            }))?;
        }
    }
    Ok(ExitCode::from(u8::from(!approved)))
}

fn uses(spent: Option<&PermissionChange>) -> Value {
    match spent {
        Some(PermissionChange::Spent { uses, .. }) => json!(uses),
        _ => json!([]),
    }
}
