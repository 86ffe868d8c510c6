//! The request of a use of a standing approval. The terms state everything but the values of the
//! parameters, the inputs, and lower limits. It must never decide that the use is admitted: the
//! daemon compares the request again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use model::{HostAudience, Sha256, UtcTime};
use policies::standing::{InputSize, admits};
use spool::DraftFiles;
use validator::{
    Code, ComposedInput, ComposedOutput, ComposedRisk, ComposedWork, Composition, OneLine,
    REQUEST_BYTES_MAX, StandingApproval, StandingInput, StandingTerms, Violation, compose_use,
    quote_words,
};

use super::DraftCommand;
use super::compose::{agent, id, line, requester};
use super::inputs::{DraftContent, DraftInput};
use crate::args::files::read_document;
use crate::clock;
use crate::commands::request::lint::as_approved;
use crate::failure::Failure;
use crate::output::{self, human};

/// Reads the standing approval in a file. Reports an invalid one, and returns its violations.
pub(super) fn read(path: &Path) -> Result<Result<StandingApproval, Vec<Violation>>, Failure> {
    let bytes = read_document(path, REQUEST_BYTES_MAX)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let read = StandingApproval::read(&bytes, &name, clock::now());
    if let Err(violations) = &read {
        human::print_to_stderr(path, &bytes, violations);
        let path = path.display();
        let why = "not a valid standing approval; help: correct the errors above";
        output::note(format_args!("{path}: {why}"));
    }
    Ok(read)
}

/// Returns the words of the command, or the reasons why the standing approval does not admit it.
pub(super) fn command_words(
    args: &DraftCommand,
    standing: &StandingApproval,
    inputs: &[DraftInput],
) -> Result<Result<Vec<String>, Vec<Violation>>, Failure> {
    let mut parameters = BTreeMap::new();
    for (name, value) in &args.parameters {
        if parameters.insert(name.clone(), value.clone()).is_some() {
            let why = "given twice; help: give each parameter once";
            return Err(Failure::Message(format!("--parameter {name}: {why}")));
        }
    }
    let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
    let words = compose_use(standing, &parameters, &names);
    Ok(words.map_err(|problems| {
        problems.into_iter().map(|problem| beyond(standing.terms(), problem)).collect()
    }))
}

/// Builds the composition of a use with these words. The digests of files in slots are not known
/// yet; those of fixed files are expected.
pub(super) fn compose(
    args: &DraftCommand,
    (standing, words): (&StandingApproval, &[String]),
    inputs: &[DraftInput],
    now: UtcTime,
) -> Result<Composition, Failure> {
    let terms = standing.terms();
    let cpu = args.cpu.clone().unwrap_or_else(|| terms.cpu.to_string());
    let approver = line("approved_by", &format!("standing {}", terms.id))?;
    let hosts = hosts(terms)?;
    Ok(Composition {
        id: id(args, &terms.purpose, now)?,
        created: now,
        requested_by: args.requested_by,
        approval: terms.approved.map(|at| (approver, at)),
        purpose: line("purpose", &terms.purpose)?,
        language: terms.language,
        backend: None,
        cpu: line("--cpu", &cpu)?,
        memory_limit_mb: args.memory_mb.unwrap_or(terms.memory_limit_mb),
        time_limit_sec: args.time_sec.unwrap_or(terms.time_limit_sec),
        inputs: inputs.iter().map(|it| composed_input(terms, it)).collect::<Result<_, _>>()?,
        outputs_expected: outputs(terms)?,
        constraints: constraints(terms)?,
        work: ComposedWork::Command(command(words)?),
        risk: risk(args, terms, &hosts)?,
        hosts: Some(hosts).filter(|hosts| !hosts.is_empty()),
        requester: requester(args)?,
        agent: agent(args)?,
        audience: Some(line("x-audience", &terms.audience)?),
        standing: Some(standing.reference()),
        environment: terms.environment.clone(),
    })
}

fn hosts(terms: &StandingTerms) -> Result<Vec<OneLine>, Failure> {
    let hosts = terms.network.hosts().iter();
    hosts.map(|host| line("network_allowlist", &host.to_string())).collect()
}

fn composed_input(terms: &StandingTerms, input: &DraftInput) -> Result<ComposedInput, Failure> {
    let fixed = terms.inputs.iter().find_map(|it| match it {
        StandingInput::Fixed(fixed) if fixed.name() == input.name => Some(*fixed.sha256()),
        _ => None,
    });
    // A placeholder until the file is copied and hashed.
    let sha256 = fixed.unwrap_or_else(|| Sha256::of(b""));
    Ok(ComposedInput { name: line("--input", &input.name)?, sha256 })
}

fn outputs(terms: &StandingTerms) -> Result<Vec<ComposedOutput>, Failure> {
    let outputs = terms.outputs.iter().map(|output| {
        let path = line("outputs_expected", output.path())?;
        let description = output.description().to_owned();
        Ok(ComposedOutput { path, description, patch_of: output.patch_of().map(str::to_owned) })
    });
    outputs.collect()
}

fn constraints(terms: &StandingTerms) -> Result<Vec<OneLine>, Failure> {
    terms.constraints.iter().map(|it| line("constraints", it.text())).collect()
}

fn command(words: &[String]) -> Result<OneLine, Failure> {
    quote_words(words).map_err(|error| {
        let help = "give the parameters other values";
        Failure::Message(format!("command: {error}; help: {help}"))
    })
}

fn risk(
    args: &DraftCommand,
    terms: &StandingTerms,
    hosts: &[OneLine],
) -> Result<ComposedRisk, Failure> {
    let within = format!("Within the bounds of {}", terms.id);
    let justification = args.justification.as_deref().unwrap_or(&within);
    let hosts: Vec<&str> = hosts.iter().map(OneLine::as_str).collect();
    let rationale = match hosts.as_slice() {
        [] => "none".to_owned(),
        hosts => format!("{} lists {}", terms.id, hosts.join(", ")),
    };
    Ok(ComposedRisk {
        level: terms.risk,
        justification: line("--justification", justification)?,
        sensitivity: terms.sensitivity,
        network_rationale: line("network_allowlist", &rationale)?,
    })
}

/// Returns the size of each input, by name.
pub(super) fn input_sizes(inputs: &[DraftInput]) -> Result<Vec<(String, u64)>, Failure> {
    let size = |input: &DraftInput| {
        let bytes = input.bytes().map_err(Failure::io(Path::new(&input.name)))?;
        Ok((input.name.clone(), bytes))
    };
    inputs.iter().map(size).collect()
}

/// Refuses inputs that the daemon would leave in `drafts/`: it limits the work of taking a draft.
pub(super) fn check_tree(inputs: &[DraftInput]) -> Result<(), Failure> {
    const ENTRIES_MAX: usize = DraftFiles::STANDING_ENTRIES_MAX;
    const LEVELS_MAX: usize = DraftFiles::STANDING_LEVELS_MAX;
    let mut named = BTreeSet::new();
    let (mut within, mut levels) = (0_usize, 0);
    for input in inputs {
        let path = Path::new(&input.name);
        named.extend(path.ancestors().filter(|it| !it.as_os_str().is_empty()));
        let components = path.components().count();
        levels = levels.max(match &input.content {
            DraftContent::File(_) => components.saturating_sub(1),
            DraftContent::Folder(folder) => {
                within = within.saturating_add(folder.entries());
                components.saturating_add(folder.levels())
            }
        });
    }
    if named.len().saturating_add(within) <= ENTRIES_MAX && levels <= LEVELS_MAX {
        return Ok(());
    }
    Err(Failure::Message(format!(
        "--input: more than {ENTRIES_MAX} files and directories, or more than {LEVELS_MAX} levels \
         of directories; help: use fewer inputs, or name what is not needed in `.toolexecignore`"
    )))
}

/// Returns each bound that a request exceeds. A request that the schema refuses has none.
pub(super) fn differences(
    standing: &StandingApproval,
    composition: &Composition,
    sizes: &[(String, u64)],
) -> Vec<Violation> {
    let terms = standing.terms();
    let (text, name) = (composition.to_text(), format!("{}.md", composition.id));
    let Some(request) = as_approved(text.as_bytes(), &name, composition.created) else {
        return Vec::new();
    };
    let sizes: Vec<InputSize<'_>> =
        sizes.iter().map(|(name, bytes)| InputSize { name, bytes: *bytes }).collect();
    let found = admits(standing, &request, HostAudience::of(Some(&terms.audience)), &sizes);
    let found = found.err().unwrap_or_default();
    found.iter().map(|difference| beyond(terms, difference.to_string())).collect()
}

fn beyond(terms: &StandingTerms, problem: String) -> Violation {
    let hint = format!("keep the bounds of {}", terms.id);
    Violation::error(Code::ApprovalStanding, problem).hint(hint)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn file(name: &str) -> DraftInput {
        let content = DraftContent::File(File::open("/dev/null").unwrap());
        DraftInput { name: name.to_owned(), content }
    }

    #[test]
    fn the_inputs_of_a_use_are_limited_as_the_daemon_limits_them() {
        // A directory that two files share counts once.
        assert!(check_tree(&[file("1/2/3/4/5/6/7/8/a"), file("1/2/3/4/5/6/7/8/b")]).is_ok());
        assert!(check_tree(&[file("1/2/3/4/5/6/7/8/9/a")]).is_err());
        // Each of these has seven directories of its own.
        let name = |number: u32| format!("{number}/2/3/4/5/6/7/a");
        let mut most: Vec<DraftInput> = (0..128).map(|number| file(&name(number))).collect();
        assert!(check_tree(&most).is_ok());
        most.push(file("one-more"));
        assert!(check_tree(&most).is_err());
    }
}
