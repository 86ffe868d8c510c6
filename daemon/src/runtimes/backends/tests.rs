//! Files that other users can change or replace are refused, also behind a link, and a path that
//! cannot be used says why.

use std::fs::{File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

/// A directory with the file `above/place/program`, removed at the end.
struct ChangeableFiles(PathBuf);

impl ChangeableFiles {
    fn new(name: &str) -> Self {
        let top = std::env::temp_dir().join(format!("toolexec-{name}-{}", std::process::id()));
        fs::create_dir_all(top.join("above/place")).unwrap();
        let files = Self(fs::canonicalize(top).unwrap());
        drop(File::create(files.program()).unwrap());
        for path in ["", "above", "above/place"] {
            files.set(path, 0o755);
        }
        files.set("above/place/program", 0o644);
        files
    }

    fn program(&self) -> PathBuf {
        self.0.join("above/place/program")
    }

    fn set(&self, path: &str, mode: u32) {
        fs::set_permissions(self.0.join(path), Permissions::from_mode(mode)).unwrap();
    }

    fn found(&self, path: &Path) -> Result<BackendFile, String> {
        file(PROGRAM.to_owned(), path.to_owned(), &mut DigestCache::default())
    }
}

impl Drop for ChangeableFiles {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}

#[test]
fn a_file_that_others_can_change_or_replace_is_refused() {
    let files = ChangeableFiles::new("changeable");
    let program = files.program();
    assert_eq!(files.found(&program).unwrap().path, program);
    for (path, usual, mode) in [
        ("above/place/program", 0o644, 0o646),
        ("above/place/program", 0o644, 0o664),
        ("above/place", 0o755, 0o757),
        ("above/place", 0o755, 0o775),
        ("above/place", 0o755, 0o1777),
        ("above", 0o755, 0o777),
        ("", 0o755, 0o777),
    ] {
        files.set(path, mode);
        let why = files.found(&program).unwrap_err();
        let changeable = files.0.join(path).components().collect::<PathBuf>();
        let expected = format!("other users can change {}", changeable.display());
        assert_eq!(why, expected, "{path} {mode:o}");
        files.set(path, usual);
    }
    for mode in [0o775, 0o1777] {
        files.set("above", mode);
        assert!(files.found(&program).is_ok(), "{mode:o}");
    }
}

#[test]
fn the_target_of_a_link_is_checked() {
    let files = ChangeableFiles::new("changeable-link");
    let link = files.0.join("kernel");
    symlink(files.program(), &link).unwrap();
    assert_eq!(files.found(&link).unwrap().path, files.program());
    files.set("above/place", 0o777);
    let why = files.found(&link).unwrap_err();
    assert!(why.starts_with("other users can change ") && why.ends_with("/place"), "{why}");
}

#[test]
fn a_path_says_why_it_cannot_be_used() {
    let files = ChangeableFiles::new("unreadable");
    let missing = files.0.join("missing");
    let why = files.found(&missing).unwrap_err();
    assert_eq!(why, format!("{}: no such file", missing.display()));
    let below = files.program().join("below");
    let why = files.found(&below).unwrap_err();
    assert!(why.contains("Not a directory"), "{why}");
    let denied = io::Error::from(io::ErrorKind::PermissionDenied);
    assert_eq!(unreadable(Path::new("/a"), &denied), "/a: permission denied");
}
