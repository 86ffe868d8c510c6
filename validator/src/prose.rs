//! The rules for everything that is neither the command nor YAML: text that people read. Words
//! about a forbidden thing are only warned of; an instruction to do it is refused.

use crate::code::Code;
use crate::node::Node;
use crate::packages::{self, Speech};
use crate::paths;
use crate::report::{Report, Spot};
use crate::secrets;
use crate::text::Line;

/// Checks lines of prose; in `strict` ones, which list files, a host path is an error.
pub(crate) fn check(lines: &[Line<'_>], strict: bool, report: &mut Report) {
    for line in lines {
        paths::check_prose(line, strict, report);
        if let Some((at, speech)) = packages::in_prose(line.text) {
            tell(speech, line.spot(at), report);
        }
    }
}

/// Checks the values of the front matter: a secret may hide behind YAML's escapes.
pub(crate) fn check_front_matter(front: &Node, report: &mut Report) {
    front.each_scalar(&mut |text, spot| {
        for (kind, _) in secrets::find(text) {
            secrets::report(kind, spot, report);
        }
        for line in text.lines() {
            if let Some((_, speech)) = packages::in_prose(line) {
                tell(speech, spot, report);
            }
        }
    });
}

fn tell(speech: Speech, spot: Spot, report: &mut Report) {
    match speech {
        Speech::Imperative => report.error_hint(
            Code::PackageInstall,
            spot,
            "text: an instruction to install packages",
            "what a tool needs must be part of its runtime or a declared input",
        ),
        Speech::Mention => {
            report.warning(Code::PackageInstall, spot, "text: speaks of installing packages");
        }
    }
}

/// Reports what looks like a secret, anywhere in these lines.
pub(crate) fn check_secrets(lines: &[Line<'_>], report: &mut Report) {
    for line in lines {
        for (kind, at) in secrets::find(line.text) {
            secrets::report(kind, line.spot(at), report);
        }
    }
}
