//! Declared paths, and the declared inputs below /in. A name must never leave its directory.

use model::{Sha256, SourceSpan, quote};

use crate::code::Code;
use crate::fields::FrontMatterFields;
use crate::report::Report;

pub(crate) const COMPONENTS_MAX: usize = 8;
pub(crate) const COMPONENT_BYTES_MAX: usize = 255;

/// An input: the path of a file or a folder below /in, and its digest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    name: String,
    sha256: Sha256,
}

impl Input {
    /// The path below /in: up to 8 components of `[A-Za-z0-9._-]`, none beginning with a dot. The
    /// name of a folder ends with `/`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name without the final `/` of a folder.
    #[must_use]
    pub fn path(&self) -> &str {
        path_of(&self.name)
    }

    /// Returns true for a folder, whose digest is that of its tree.
    #[must_use]
    pub fn is_tree(&self) -> bool {
        is_tree(&self.name)
    }

    /// The digest that the file or the tree must have.
    #[must_use]
    pub fn sha256(&self) -> &Sha256 {
        &self.sha256
    }
}

/// Returns whether the name of an input is that of a folder.
pub(crate) fn is_tree(name: &str) -> bool {
    name.ends_with('/')
}

/// Returns the name of an input without the final `/` of a folder.
pub(crate) fn path_of(name: &str) -> &str {
    name.strip_suffix('/').unwrap_or(name)
}

/// A declaration as far as it could be read: the path, and the rest if valid. The path of a folder
/// ends with `/`.
pub(crate) struct Declaration<T> {
    pub(crate) path: String,
    pub(crate) spot: SourceSpan,
    pub(crate) rest: Option<T>,
}

/// All declarations of one kind; None if the list itself could not be read.
pub(crate) type Declarations<T> = Option<Vec<Declaration<T>>>;

/// The declared inputs, as the words of a command name them.
#[derive(Clone, Copy)]
pub(crate) struct CommandInputs<'i> {
    /// The names; that of a folder ends with `/`.
    pub(crate) names: &'i [&'i str],
    /// True if the tool starts in /out/work, the copy of a folder, instead of in /in.
    pub(crate) starts_in_work: bool,
}

pub(crate) fn inputs(fields: &FrontMatterFields<'_>, report: &mut Report) -> Declarations<Sha256> {
    let items = fields.list("inputs", report)?;
    let mut found = Vec::new();
    for (index, node) in items.iter().enumerate() {
        let Some(item) = FrontMatterFields::of(node, format!("inputs[{index}]."), report) else {
            continue;
        };
        found.extend(input_of(&item, report));
    }
    report_duplicates(&found, Code::InputsDuplicate, "inputs", report);
    Some(found)
}

fn input_of(item: &FrontMatterFields<'_>, report: &mut Report) -> Option<Declaration<Sha256>> {
    item.refuse_unknown(&["name", "sha256"], false, report);
    let name = item.text("name", report);
    let is_folder = name.is_some_and(|name| is_tree(name.value));
    let sha256 = digest(item, is_folder, report);
    let name = name?;
    if !is_plain_path(path_of(name.value)) {
        let path = quote(name.value);
        let message = format!("{}: {path} is not a plain path", item.name("name"));
        let hint = "write a path of letters, digits, `.`, `_` and `-`, without /in/; a folder ends \
                    with `/`";
        report.error_hint(Code::InputsName, name.span, message, hint);
        return None;
    }
    Some(Declaration { path: name.value.to_owned(), spot: name.span, rest: sha256 })
}

/// Reads one declared input.
pub(crate) fn input(item: &FrontMatterFields<'_>, report: &mut Report) -> Option<Input> {
    let Declaration { path, rest, .. } = input_of(item, report)?;
    Some(Input { name: path, sha256: rest? })
}

fn digest(item: &FrontMatterFields<'_>, is_folder: bool, report: &mut Report) -> Option<Sha256> {
    let name = item.name("sha256");
    let missing = item.peek("sha256").is_none_or(|node| {
        node.is_null() || node.scalar().is_some_and(|(text, _)| text.trim().is_empty())
    });
    if missing {
        let hint = match is_folder {
            true => "add the digest of the folder, which `toolexec draft --input DIR` writes",
            false => "add the digest that `sha256sum FILE` prints",
        };
        let spot = item.peek("sha256").map_or(item.spot(), |node| node.spot);
        let message = format!("{name}: the digest is missing");
        report.error_hint(Code::InputsHashMissing, spot, message, hint);
        return None;
    }
    let node = item.peek("sha256")?;
    // YAML reads 64 digits without quotes as a number; they are a digest nevertheless.
    let Some((text, _)) = node.scalar() else {
        report.error(Code::FrontmatterType, node.spot, format!("{name}: must be text"));
        return None;
    };
    let digest = text.parse().ok();
    if digest.is_none() {
        let message = format!("{name}: {} is not 64 hexadecimal digits", quote(text));
        report.error(Code::InputsHashFormat, node.spot, message);
    }
    digest
}

/// Returns true for up to 8 components of `[A-Za-z0-9._-]`, none empty or beginning with a dot.
#[must_use]
pub fn is_plain_path(path: &str) -> bool {
    let component = |part: &str| {
        !part.is_empty()
            && part.len() <= COMPONENT_BYTES_MAX
            && !part.starts_with('.')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
    };
    path.split('/').count() <= COMPONENTS_MAX && path.split('/').all(component)
}

/// Reports equal paths, a path that would be both a file and a directory, and what is below a
/// declared folder.
pub(crate) fn report_duplicates<T>(
    found: &[Declaration<T>],
    code: Code,
    key: &str,
    report: &mut Report,
) {
    let mut sorted: Vec<&Declaration<T>> = found.iter().collect();
    // Sorts by components, so that the paths below a path directly follow it.
    sorted.sort_by(|a, b| parts(&a.path).cmp(parts(&b.path)).then(by_line(a.spot, b.spot)));
    for pair in sorted.windows(2) {
        let [first, second] = pair else { continue };
        let what = match path_of(&second.path).strip_prefix(path_of(&first.path)) {
            Some("") if is_tree(&first.path) != is_tree(&second.path) => "is a file and a folder",
            Some("") => "appears twice",
            Some(rest) if !rest.starts_with('/') => continue,
            Some(_) if is_tree(&first.path) => "is below another folder",
            Some(_) => "is below another file",
            None => continue,
        };
        report.error(code, second.spot, format!("`{key}`: {} {what}", quote(&second.path)));
    }
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path_of(path).split('/')
}

fn by_line(a: SourceSpan, b: SourceSpan) -> std::cmp::Ordering {
    (a.line, a.column).cmp(&(b.line, b.column))
}

pub(crate) fn complete_inputs(found: Declarations<Sha256>) -> Option<Vec<Input>> {
    let finish = |item: Declaration<Sha256>| Some(Input { name: item.path, sha256: item.rest? });
    found?.into_iter().map(finish).collect()
}
