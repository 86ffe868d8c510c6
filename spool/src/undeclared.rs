//! Finds undeclared files next to an approved request's inputs. The directory belongs to another
//! user: it is listed by handle and with limits, and no file in it is read. A declared folder is
//! not listed, because its digest covers all that is in it.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Dir, FileType, OFlags};
use validator::{Code, Input, Violation};

use crate::beneath::open_beneath;
use crate::error::SpoolError;

/// The deepest directory below `<stem>.inputs/` that is searched.
const LISTED_DEPTH_MAX: usize = 8;
/// The most files and directories that are read. The front matter of a request has no space for as
/// many inputs.
const LISTED_MAX: usize = 10_000;
/// The most undeclared files that are reported.
const UNDECLARED_MAX: usize = 20;

/// Returns a violation for each undeclared file, because the approver did not see it.
pub(crate) fn undeclared(
    directory: &OwnedFd,
    path: &Path,
    inputs: &[Input],
) -> Result<Vec<Violation>, SpoolError> {
    let top = Dir::read_from(directory).map_err(SpoolError::errno(path, "list"))?;
    let declared = inputs.iter().map(Input::path).collect();
    let mut search = UndeclaredSearch { declared, listed: 0, found: Vec::new() };
    let ended = search.list(top, "", 0);
    search.found.sort();
    let violation = |name: String| {
        let message = format!("input {name}: not declared in the front matter");
        let hint = format!(
            "declare it under inputs with its sha256, or remove it from {}",
            path.display()
        );
        Violation::error(Code::InputsUndeclared, message).hint(hint)
    };
    let found = search.found.into_iter().take(UNDECLARED_MAX).map(violation);
    Ok(found.chain(ended.is_break().then(|| too_many(path))).collect())
}

fn too_many(path: &Path) -> Violation {
    let path = path.display();
    let message = format!(
        "{path}: too many files and directories beside the inputs; the search ended after \
         {LISTED_MAX}"
    );
    let hint = format!("remove all but the declared inputs from {path}");
    Violation::error(Code::InputsUndeclared, message).hint(hint)
}

/// A search for undeclared files, with the work that it has done.
struct UndeclaredSearch<'a> {
    /// The paths of the declared files and folders.
    declared: BTreeSet<&'a str>,
    /// The names that were read.
    listed: usize,
    found: Vec<String>,
}

impl UndeclaredSearch<'_> {
    /// Lists an open directory. One that cannot be listed counts as an undeclared file. Breaks at
    /// the limit.
    fn list(&mut self, mut directory: Dir, prefix: &str, depth: usize) -> ControlFlow<()> {
        while let Some(entry) = directory.read() {
            let Ok(entry) = entry else {
                self.found.push(format!("{prefix}(unreadable)"));
                return ControlFlow::Continue(());
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            self.count()?;
            let whole = format!("{prefix}{}", name.to_string_lossy());
            if name.to_bytes().starts_with(b".") || self.declared.contains(whole.as_str()) {
                continue;
            }
            let may_be_listed = depth < LISTED_DEPTH_MAX
                && matches!(entry.file_type(), FileType::Directory | FileType::Unknown);
            match may_be_listed.then(|| open(&directory, name)).flatten() {
                Some(inner) => self.list(inner, &format!("{whole}/"), depth + 1)?,
                None => self.found.push(whole),
            }
        }
        ControlFlow::Continue(())
    }

    fn count(&mut self) -> ControlFlow<()> {
        self.listed += 1;
        match self.listed > LISTED_MAX {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

fn open(directory: &Dir, name: &CStr) -> Option<Dir> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let opened = open_beneath(directory.fd().ok()?, name, flags).ok()?;
    Dir::new(opened).ok()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::PathBuf;

    use super::*;

    /// An empty directory of inputs, removed at the end.
    struct UndeclaredScene {
        top: PathBuf,
    }

    impl Drop for UndeclaredScene {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.top).unwrap();
        }
    }

    impl UndeclaredScene {
        fn new(name: &str) -> Self {
            let name = format!("toolexec-undeclared-{name}-{}", std::process::id());
            let top = std::env::temp_dir().join(name);
            fs::create_dir(&top).unwrap();
            Self { top }
        }

        /// Returns the messages of a search that expects no input.
        fn search(&self) -> Vec<String> {
            let directory = File::open(&self.top).unwrap().into();
            let violations = undeclared(&directory, Path::new("x.inputs"), &[]).unwrap();
            violations.into_iter().map(|it| it.message).collect()
        }
    }

    #[test]
    fn each_file_is_reported_and_hidden_ones_are_not() {
        let scene = UndeclaredScene::new("few");
        fs::create_dir_all(scene.top.join("a/b")).unwrap();
        for name in ["z", "a/b/c", ".hidden"] {
            File::create(scene.top.join(name)).unwrap();
        }
        let declared = "not declared in the front matter";
        let wanted = [format!("input a/b/c: {declared}"), format!("input z: {declared}")];
        assert_eq!(scene.search(), wanted);
    }

    #[test]
    fn a_search_ends_also_among_objects_that_are_not_reported() {
        let hidden = UndeclaredScene::new("hidden");
        let empty = UndeclaredScene::new("empty");
        for number in 0..=LISTED_MAX {
            File::create(hidden.top.join(format!(".{number}"))).unwrap();
            fs::create_dir(empty.top.join(number.to_string())).unwrap();
        }
        let wanted = "x.inputs: too many files and directories beside the inputs; the search ended \
                      after 10000";
        assert_eq!(hidden.search(), [wanted]);
        assert_eq!(empty.search(), [wanted]);
    }
}
