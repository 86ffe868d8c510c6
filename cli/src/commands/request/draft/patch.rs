//! The folder of `--patch`, which is the only one among the inputs. It must never choose one of
//! several.

use super::inputs::DraftInput;
use crate::failure::Failure;

/// The path of the patch below /out.
pub(crate) const PATCH_FILE: &str = "changes.patch";

/// Returns the name of the only folder, with its final `/`.
pub(super) fn only_folder(inputs: &[DraftInput]) -> Result<String, Failure> {
    let names = inputs.iter().map(|input| input.name.as_str());
    let folders: Vec<&str> = names.filter(|name| name.ends_with('/')).collect();
    check_folder_count(folders.len())?;
    Ok(folders.concat())
}

/// Checks that `--patch` has exactly one folder.
pub(crate) fn check_folder_count(folders: usize) -> Result<(), Failure> {
    match folders {
        1 => Ok(()),
        0 => Err(Failure::Message(
            "--patch: the inputs have no folder; help: add one with --input DIR".into(),
        )),
        more => Err(Failure::Message(format!(
            "--patch: the inputs have {more} folders; help: give one of them, or submit a written \
             request with `x-patch-of`"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::check_folder_count;

    #[test]
    fn a_patch_needs_exactly_one_folder() {
        assert!(check_folder_count(1).is_ok());
        for (folders, word) in [(0, "--input DIR"), (2, "x-patch-of")] {
            let failure = check_folder_count(folders).unwrap_err().to_string();
            assert!(failure.starts_with("--patch: ") && failure.contains(word), "{failure}");
        }
    }
}
