//! The kind of a document that a user names. The name of the file decides, as it does in the spool.

use std::ffi::OsStr;
use std::path::Path;

use model::StandingId;

use crate::failure::Failure;

/// Returns whether the file is a standing approval: `SA-….md`. Every other file is a request.
pub(in crate::commands) fn is_standing_file(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str);
    let stem = name.and_then(|name| name.strip_suffix(".md"));
    stem.is_some_and(|stem| stem.parse::<StandingId>().is_ok())
}

/// Refuses `--inputs`, which would be ignored.
pub(in crate::commands) fn refuse_inputs(inputs: Option<&Path>) -> Result<(), Failure> {
    match inputs {
        None => Ok(()),
        Some(_) => {
            let why = "--inputs: a standing approval has no input files; help: leave it out";
            Err(Failure::Message(why.into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::is_standing_file;

    #[test]
    fn the_name_decides() {
        for name in ["SA-20260209-160501Z-means.md", "a/TR-x/SA-20260209-160501Z-m_2.md"] {
            assert!(is_standing_file(Path::new(name)), "{name}");
        }
        for name in [
            "TR-20260209-160501Z-means.md",
            "SA-20260209-160501Z-means",
            "SA-20260209-160501Z-means.txt",
            "SA-20260209-160501Z-a.b.md",
            "SA-means.md",
            "..",
        ] {
            assert!(!is_standing_file(Path::new(name)), "{name}");
        }
    }
}
