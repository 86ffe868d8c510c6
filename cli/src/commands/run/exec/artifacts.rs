//! Copies of a record's artifacts for the invoker. Names come from the tool: a copy never leaves its
//! directory and never follows a link in it.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::failure::Failure;
use crate::output::replace_with;

/// Copies all artifacts to `out`, and returns their number. Creates `out` only for an artifact.
pub(super) fn copy(record: &Path, out: &Path) -> Result<usize, Failure> {
    let from = record.join("artifacts");
    match fs::symlink_metadata(&from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        found => found.map_err(Failure::io(&from))?,
    };
    let is_empty = fs::read_dir(&from).map_err(Failure::io(&from))?.next().is_none();
    if is_empty {
        return Ok(0);
    }
    create(out)?;
    copy_below(&from, out)
}

fn copy_below(from: &Path, to: &Path) -> Result<usize, Failure> {
    let mut copied = 0;
    for entry in fs::read_dir(from).map_err(Failure::io(from))? {
        let entry = entry.map_err(Failure::io(from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(Failure::io(&source))?;
        if kind.is_dir() {
            if fs::symlink_metadata(&target).is_ok_and(|found| !found.is_dir()) {
                return Err(not_a_directory(&target));
            }
            create(&target)?;
            copied += copy_below(&source, &target)?;
        } else if kind.is_file() {
            let mut from = File::open(&source).map_err(Failure::io(&source))?;
            replace_with(&target, |copy| io::copy(&mut from, copy).map(|_| ()))?;
            copied += 1;
        }
    }
    Ok(copied)
}

fn create(directory: &Path) -> Result<(), Failure> {
    match fs::create_dir_all(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(not_a_directory(directory))
        }
        created => created.map_err(Failure::io(directory)),
    }
}

fn not_a_directory(path: &Path) -> Failure {
    let help = "remove it, or name another directory with --out";
    Failure::Message(format!("{}: not a directory; help: {help}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn copies_replace_files_and_follow_no_link() {
        let scratch = std::env::temp_dir().join(format!("toolexec-copy-{}", std::process::id()));
        let (record, out) = (scratch.join("record"), scratch.join("out"));
        fs::create_dir_all(record.join("artifacts/sub")).unwrap();
        for (name, text) in [("a", "new"), (".a.part", "p"), ("sub/b", "b")] {
            let mut file = File::create(record.join("artifacts").join(name)).unwrap();
            io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        }
        assert_eq!(copy(&scratch, &out).unwrap(), 0);
        assert!(!out.exists());
        fs::create_dir(&out).unwrap();
        let outside = scratch.join("outside");
        File::create(&outside).unwrap();
        symlink(&outside, out.join("a")).unwrap();
        assert_eq!(copy(&record, &out).unwrap(), 3);
        assert_eq!(fs::read_to_string(out.join("a")).unwrap(), "new");
        assert_eq!(fs::read_to_string(out.join(".a.part")).unwrap(), "p");
        assert_eq!(fs::read_dir(&out).unwrap().count(), 3);
        assert_eq!(fs::read_to_string(&outside).unwrap(), "");
        // A link in place of a directory.
        fs::remove_dir_all(out.join("sub")).unwrap();
        symlink(&scratch, out.join("sub")).unwrap();
        assert!(copy(&record, &out).unwrap_err().to_string().contains("not a directory"));
        assert!(!scratch.join("b").exists());
        fs::remove_dir_all(scratch).unwrap();
    }
}
