//! Warns about unused permissions, never refuses: the text does not show what a script reads.

use model::{Sha256, SourceSpan};

use crate::code::Code;
use crate::declarations::{Declaration, is_tree, path_of};
use crate::fields::FrontMatterFields;
use crate::network::HostPort;
use crate::paths;
use crate::report::Report;
use crate::violation::Violation;

/// Suffixes of files that a script loads itself, so that the command line need not name them.
const SOURCE_SUFFIXES: [&str; 11] =
    [".py", ".pyi", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".rb", ".go", "package.json"];

/// Warns about inputs that no word of the command names. A source beside a named one is used, and a
/// folder may have sources. `work` is the folder in whose copy the tool starts, if any.
pub(crate) fn check_inputs(
    argv: &[String],
    (inputs, work): (&[Declaration<Sha256>], Option<&str>),
    report: &mut Report,
) {
    let Some(named) = NamedInputs::of(argv, work.is_some()) else { return };
    let is_used = |name: &str| named.has(name) || work == Some(path_of(name));
    let runs_source = inputs.iter().any(|input| is_source(&input.path) && is_used(&input.path));
    for input in inputs {
        if is_used(&input.path) || (runs_source && is_source(&input.path)) {
            continue;
        }
        let message = format!("`inputs`: the command never names {}", input.path);
        let row = Violation::warning(Code::InputsUnused, message).within(input.spot);
        report.add(row.hint("remove it, or name it in the command"));
    }
}

fn is_source(path: &str) -> bool {
    is_tree(path) || SOURCE_SUFFIXES.iter().any(|end| path.ends_with(end))
}

/// The names below /in that a command mentions.
struct NamedInputs<'a> {
    /// Every maximal run of path characters, sorted.
    runs: Vec<&'a str>,
}

impl<'a> NamedInputs<'a> {
    /// Returns None if the command names, or may name, all of /in: then every input is used. If the
    /// tool starts in the copy of a folder, a relative path names nothing of /in.
    fn of(argv: &'a [String], starts_in_work: bool) -> Option<Self> {
        let in_path = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
        let mut runs = Vec::new();
        for run in argv.iter().flat_map(|word| word.split(move |c| !in_path(c))) {
            let relative = || paths::relative(run).filter(|_| !starts_in_work);
            let name = paths::below_in(run).or_else(relative);
            if ["/in", "/in/"].contains(&run) || (!starts_in_work && [".", "./"].contains(&run)) {
                return None;
            }
            if name.is_some_and(|name| !name.is_empty()) {
                let run = run.strip_prefix("/in/").unwrap_or(run);
                runs.push(run.trim_start_matches("./").trim_end_matches('/'));
            }
        }
        runs.sort_unstable();
        Some(Self { runs })
    }

    /// Returns true if the command names the path, a directory above it, or its Python module. A
    /// folder is named by anything in it.
    fn has(&self, name: &str) -> bool {
        let path = path_of(name);
        let known = |name: &str| self.runs.binary_search(&name).is_ok();
        let above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        let module = path.strip_suffix(".py").map(|path| path.replace('/', "."));
        known(path)
            || above.into_iter().any(known)
            || module.is_some_and(|name| known(&name))
            || (is_tree(name) && self.has_in(path))
    }

    /// Returns true if the command names a path in the folder, or a Python module of it.
    fn has_in(&self, folder: &str) -> bool {
        let begins = |start: String| {
            let at = self.runs.partition_point(|run| *run < start.as_str());
            self.runs.get(at).is_some_and(|run| run.starts_with(&start))
        };
        begins(format!("{folder}/")) || begins(format!("{}.", folder.replace('/', ".")))
    }
}

/// Warns about hosts that neither the command nor the network rationale names.
pub(crate) fn check_hosts(fields: &FrontMatterFields<'_>, texts: &[&str], report: &mut Report) {
    let mut unread = Report::default();
    if fields.peek("network_allowlist").is_none() {
        return;
    }
    let items = fields.list("network_allowlist", &mut unread).unwrap_or_default();
    let texts: Vec<String> = texts.iter().map(|text| text.to_ascii_lowercase()).collect();
    // A request names only a few; the bound keeps a hostile one from quadratic cost.
    for item in items.iter().take(HOSTS_CHECKED_MAX) {
        let Some(host) = item.scalar().and_then(|(text, _)| HostPort::parse(text)) else {
            continue;
        };
        if !texts.iter().any(|text| text.contains(host.host())) {
            report_unused_host(&host, item.spot, report);
        }
    }
}

const HOSTS_CHECKED_MAX: usize = 50;

fn report_unused_host(host: &HostPort, spot: SourceSpan, report: &mut Report) {
    let message = format!("`network_allowlist`: no reason for {}", host.host());
    let hint = "name it in the command or in `Network rationale:`, or remove it";
    report.add(Violation::warning(Code::NetworkHostUnused, message).within(spot).hint(hint));
}

#[cfg(test)]
mod tests {
    use model::Language;

    use super::is_source;

    #[test]
    fn sources_of_each_language_are_loaded() {
        for language in Language::ALL {
            let endings = language.runtime().extensions;
            assert!(endings.iter().any(|ending| is_source(ending)), "{language}");
        }
    }
}
