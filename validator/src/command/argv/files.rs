//! Reports undeclared files that a command names. It must never demand a file of a runtime.

use model::{SourceSpan, quote};

use crate::code::Code;
use crate::declarations::CommandInputs;
use crate::paths;
use crate::report::Report;

/// Suffixes that an interpreter adds to the name of a file to run.
const ENDINGS: [&str; 6] = [".js", ".cjs", ".mjs", ".json", ".ts", ".rb"];

/// The names of the declared inputs, in order. That of a folder ends with `/`.
pub(super) struct DeclaredInputs<'i> {
    names: Vec<&'i str>,
    starts_in_work: bool,
}

impl<'i> DeclaredInputs<'i> {
    pub(super) fn new(inputs: CommandInputs<'i>) -> Self {
        let mut names = inputs.names.to_vec();
        names.sort_unstable();
        Self { names, starts_in_work: inputs.starts_in_work }
    }

    fn declares(&self, name: &str) -> bool {
        self.names.binary_search(&name).is_ok()
    }

    /// Returns true for a declared file, and for what may be in a declared folder.
    fn has(&self, name: &str) -> bool {
        let mut folders = name.match_indices('/').filter_map(|(at, _)| name.get(..=at));
        self.declares(name)
            || (name.split('/').all(|part| part != "..") && folders.any(|it| self.declares(it)))
    }

    fn has_below(&self, folder: &str) -> bool {
        let folder = format!("{folder}/");
        let at = self.names.partition_point(|name| *name < folder.as_str());
        self.has(&folder) || self.names.get(at).is_some_and(|name| name.starts_with(&folder))
    }

    /// Returns true for a declared file, a directory of one, or /in itself.
    fn covers(&self, name: &str) -> bool {
        name.is_empty() || self.has(name) || self.has_below(name)
    }

    /// Returns true like `covers`, or if an interpreter finds a declared file under this name.
    fn resolves(&self, name: &str) -> bool {
        self.covers(name) || ENDINGS.iter().any(|ending| self.has(&format!("{name}{ending}")))
    }
}

/// Checks a script, or a file that runs before it.
pub(super) fn check_script(
    word: &str,
    spot: SourceSpan,
    inputs: &DeclaredInputs<'_>,
    report: &mut Report,
) {
    if inputs.starts_in_work
        && let Some(name) = paths::relative(word)
    {
        return check_work_script(&name, spot, inputs, report);
    }
    let name = paths::below_in(word).or_else(|| paths::relative(word));
    let provided = name.as_deref().is_some_and(|name| inputs.resolves(name));
    // A host path is reported as such; there is nothing to declare.
    if !provided && (name.is_some() || !word.starts_with('/')) {
        let message = format!("command: the script {} is not a declared input", quote(word));
        let hint = hint(name.as_deref());
        report.error_hint(Code::CommandUndeclaredFile, spot, message, hint);
    }
}

/// Checks a script by its path in /out/work. The folder may have it, so only the name of a file of
/// /in is refused: the reader would expect that file.
fn check_work_script(
    name: &str,
    spot: SourceSpan,
    inputs: &DeclaredInputs<'_>,
    report: &mut Report,
) {
    if inputs.declares(name) {
        let hint = format!("write /in/{name}, or /out/work/{name} for a file of the folder");
        let name = quote(name);
        let message = format!("command: {name} is a file of /in; the tool starts in /out/work");
        report.error_hint(Code::CommandUndeclaredFile, spot, message, hint);
    }
}

/// Checks a module of `python -m`. The runtime has modules of its own, so an unknown name passes. A
/// name such as `x.py` means a file, and a package among the inputs must contain the module.
pub(super) fn check_module(
    name: &str,
    spot: SourceSpan,
    inputs: &DeclaredInputs<'_>,
    report: &mut Report,
) {
    let path = name.replace('.', "/");
    let folder = name.split('.').next().unwrap_or(name);
    let file = match name.strip_suffix(".py") {
        Some(stem) if !stem.is_empty() => name.to_owned(),
        _ => format!("{path}.py"),
    };
    let local = folder != name && inputs.has_below(folder);
    // The folder in which the tool starts may have each module.
    let meant = !inputs.starts_in_work && (name.ends_with(".py") || local);
    let provided = inputs.has(&file) || inputs.has_below(&path);
    if meant && !provided {
        let message = format!("command: the module {} is not a declared input", quote(name));
        let hint = hint(Some(&file));
        report.error_hint(Code::CommandUndeclaredFile, spot, message, hint);
    }
}

/// Checks the paths below /in in a word that is not code, and returns the number of violations.
pub(super) fn check_word(
    word: &str,
    spot: SourceSpan,
    inputs: &DeclaredInputs<'_>,
    report: &mut Report,
) -> usize {
    let names = paths::absolute_in(word).into_iter().filter_map(paths::below_in);
    report_undeclared(names, spot, inputs, report)
}

/// Checks the literal paths below /in in code, and returns the number of violations.
pub(super) fn check_code(
    code: &str,
    spot: SourceSpan,
    inputs: &DeclaredInputs<'_>,
    report: &mut Report,
) -> usize {
    report_undeclared(paths::inputs_in(code), spot, inputs, report)
}

fn report_undeclared(
    names: impl Iterator<Item = String>,
    spot: SourceSpan,
    inputs: &DeclaredInputs<'_>,
    report: &mut Report,
) -> usize {
    let undeclared = names.filter(|name| !inputs.covers(name)).take(paths::REPORTED_PER_LINE_MAX);
    undeclared
        .map(|name| {
            let message =
                format!("command: {} is not a declared input", quote(&format!("/in/{name}")));
            report.error_hint(Code::CommandUndeclaredFile, spot, message, hint(Some(&name)));
        })
        .count()
}

/// Returns the missing lines in the form in which to add them.
fn hint(name: Option<&str>) -> String {
    const NAME_MAX: usize = 200;
    let part = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    match name.filter(|name| !name.is_empty() && name.len() <= NAME_MAX && name.chars().all(part)) {
        Some(name) => format!(
            "declare it: add to `inputs`\n  - name: \"{name}\"\n    sha256: \"<sha256sum \
             {name}>\"\nand under `## Input Files`\n- /in/{name}"
        ),
        None => {
            "name a file that is declared in `inputs` and listed in `## Input Files`".to_owned()
        }
    }
}
