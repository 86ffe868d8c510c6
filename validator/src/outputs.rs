//! The declared outputs below /out, and the patch that one of them may be. A path must never leave
//! /out, and a patch must never be of anything but a declared folder.

use model::{WithSpan, quote};

use crate::code::Code;
use crate::declarations::{
    Declaration, Declarations, is_plain_path, is_tree, path_of, report_duplicates,
};
use crate::fields::FrontMatterFields;
use crate::report::Report;

const OUTPUTS: &str = "outputs_expected";
/// The key of an output that is the patch of a folder.
pub(crate) const PATCH_OF: &str = "x-patch-of";
/// The directory below /out with the writable copy of that folder.
const WORK: &str = "work";

/// A file that is expected under /out: the tool leaves it there, or TOOL-EXEC writes a patch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExpectedOutput {
    path: String,
    description: String,
    patch_of: Option<String>,
}

impl ExpectedOutput {
    /// The path relative to /out.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The purpose of the file, in the requester's words.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The name of the folder whose changes TOOL-EXEC writes to this file, with the final `/`. None
    /// for a file of the tool.
    #[must_use]
    pub fn patch_of(&self) -> Option<&str> {
        self.patch_of.as_deref()
    }
}

/// The patch that a request asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PatchOutput<'a> {
    /// The path of the patch, relative to /out.
    pub path: &'a str,
    /// The path of the folder below /in, without the final `/`.
    pub folder: &'a str,
}

/// Returns the patch among these outputs.
pub(crate) fn patch(outputs: &[ExpectedOutput]) -> Option<PatchOutput<'_>> {
    outputs
        .iter()
        .find_map(|it| Some(PatchOutput { path: it.path(), folder: path_of(it.patch_of()?) }))
}

/// The values of a declared output, beside its path.
pub(crate) struct DeclaredOutput {
    /// None if it is invalid.
    description: Option<String>,
    patch_of: Option<WithSpan<String>>,
}

pub(crate) fn read(
    fields: &FrontMatterFields<'_>,
    report: &mut Report,
) -> Declarations<DeclaredOutput> {
    let items = fields.list(OUTPUTS, report)?;
    let mut found = Vec::new();
    for (index, node) in items.iter().enumerate() {
        let prefix = format!("{OUTPUTS}[{index}].");
        let Some(item) = FrontMatterFields::of(node, prefix, report) else { continue };
        found.extend(output_of(&item, report));
    }
    report_duplicates(&found, Code::OutputsDuplicate, OUTPUTS, report);
    Some(found)
}

fn output_of(
    item: &FrontMatterFields<'_>,
    report: &mut Report,
) -> Option<Declaration<DeclaredOutput>> {
    item.refuse_unknown(&["path", "description", PATCH_OF], false, report);
    let path = item.text("path", report);
    let description = item.text("description", report);
    let description = description.and_then(|text| item.readable("description", text, report));
    let description = description.map(|text| text.value.to_owned());
    let patch_of = patch_of(item, report);
    let path = path?;
    let relative = relative_to_out(item, path, report)?;
    let rest = Some(DeclaredOutput { description, patch_of });
    Some(Declaration { path: relative.to_owned(), spot: path.span, rest })
}

fn patch_of(item: &FrontMatterFields<'_>, report: &mut Report) -> Option<WithSpan<String>> {
    item.peek(PATCH_OF)?;
    let text = item.text(PATCH_OF, report)?;
    if is_tree(text.value) && is_plain_path(path_of(text.value)) {
        return Some(WithSpan { value: text.value.to_owned(), span: text.span });
    }
    let name = item.name(PATCH_OF);
    let message = format!("{name}: {} is not the name of a folder", quote(text.value));
    let hint = "write the name of a folder input, such as repo/";
    report.error_hint(Code::OutputsPatch, text.span, message, hint);
    None
}

fn relative_to_out<'n>(
    item: &FrontMatterFields<'_>,
    path: WithSpan<&'n str>,
    report: &mut Report,
) -> Option<&'n str> {
    let relative = path.value.strip_prefix("/out/").unwrap_or(path.value);
    if is_plain_path(relative) {
        return Some(relative);
    }
    let outside = relative.starts_with('/') || relative.split('/').any(|part| part == "..");
    let (code, what) = if outside {
        (Code::OutputsOutsideOut, "is outside /out")
    } else {
        (Code::OutputsPath, "is not a plain path below /out")
    };
    let message = format!("{}: {} {what}", item.name("path"), quote(path.value));
    let hint = "write a path of letters, digits, `.`, `_` and `-`, such as output.json";
    report.error_hint(code, path.span, message, hint);
    None
}

/// Checks the patch against the other declarations. `inputs` are the declared names, or None if
/// they are unknown.
pub(crate) fn check_patch(
    inputs: Option<&[&str]>,
    outputs: &Declarations<DeclaredOutput>,
    report: &mut Report,
) {
    let outputs = outputs.as_deref().unwrap_or_default();
    let mut folders = outputs.iter().filter_map(folder_of);
    let Some(first) = folders.next() else { return };
    for other in folders {
        let message = format!("`{OUTPUTS}`: a second output has `{PATCH_OF}`");
        let hint = "ask for one patch; another folder needs a request of its own";
        report.error_hint(Code::OutputsPatch, other.span, message, hint);
    }
    if inputs.is_some_and(|names| !names.contains(&first.value.as_str())) {
        let message = format!("`{PATCH_OF}`: {} is not a declared folder", quote(&first.value));
        let hint = "declare the folder in `inputs`, and write its name as there";
        report.error_hint(Code::OutputsPatch, first.span, message, hint);
    }
    for output in outputs.iter().filter(|it| is_in_work(&it.path)) {
        let path = quote(&output.path);
        let message = format!("`{OUTPUTS}`: {path} is in the tool's copy of the folder");
        let hint = "write a path outside of work/";
        report.error_hint(Code::OutputsPatch, output.spot, message, hint);
    }
}

fn folder_of(output: &Declaration<DeclaredOutput>) -> Option<&WithSpan<String>> {
    output.rest.as_ref()?.patch_of.as_ref()
}

/// Returns the path below /in of the folder whose copy is /out/work; None without a patch.
pub(crate) fn work_folder(outputs: &Declarations<DeclaredOutput>) -> Option<&str> {
    let folder = outputs.as_ref()?.iter().find_map(folder_of)?;
    Some(path_of(&folder.value))
}

/// Returns whether this path below /out is the copy of the folder, or in it.
pub(crate) fn is_in_work(path: &str) -> bool {
    let rest = path.strip_prefix(WORK);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        && path.split('/').all(|part| part != "..")
}

pub(crate) fn complete(found: Declarations<DeclaredOutput>) -> Option<Vec<ExpectedOutput>> {
    let finish = |item: Declaration<DeclaredOutput>| {
        let DeclaredOutput { description, patch_of } = item.rest?;
        let patch_of = patch_of.map(|folder| folder.value);
        Some(ExpectedOutput { path: item.path, description: description?, patch_of })
    };
    found?.into_iter().map(finish).collect()
}
