//! Finds the helper programs: in the directory of the running program, then in the packaged
//! directory. Must never search `PATH`, which the caller controls.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Finds the launcher.
///
/// # Errors
/// As [`find_program`].
pub fn find_launcher() -> Result<PathBuf, String> {
    find_program("toolexec-launch")
}

/// Finds a helper program by name.
///
/// # Errors
/// The paths that were tried, for a message, or the reason why one of them cannot be used.
pub fn find_program(name: &str) -> Result<PathBuf, String> {
    let packaged = Path::new("/usr/libexec/toolexec").join(name);
    let beside = std::env::current_exe().ok().and_then(|exe| {
        let exe = fs::canonicalize(exe).ok()?;
        Some(exe.parent()?.join(name))
    });
    find_in(name, &beside.into_iter().chain([packaged]).collect::<Vec<_>>())
}

fn find_in(name: &str, places: &[PathBuf]) -> Result<PathBuf, String> {
    let mut unreadable = None;
    for place in places {
        match fs::metadata(place) {
            Ok(found) if found.is_file() => return Ok(place.clone()),
            Ok(_) => {}
            Err(error) if is_absent(error.kind()) => {}
            // A program that may be there is not "not found".
            Err(error) => unreadable = unreadable.or(Some((place, error))),
        }
    }
    if let Some((place, error)) = unreadable {
        let help = "let this user read the file and enter its directories";
        return Err(format!("{}: {error}; help: {help}", place.display()));
    }
    let looked: Vec<_> = places.iter().map(|place| place.display().to_string()).collect();
    let looked = looked.join(" or ");
    Err(format!("{name}: not found at {looked}; help: install it beside this program"))
}

fn is_absent(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "files of a test")]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_place_that_cannot_be_read_is_not_reported_as_missing() {
        let top = std::env::temp_dir().join(format!("toolexec-programs-{}", std::process::id()));
        fs::create_dir_all(top.join("directory")).unwrap();
        let (circle, program) = (top.join("circle"), top.join("program"));
        // Also for root, the kernel refuses a circle of links.
        symlink(&circle, &circle).unwrap();
        fs::write(&program, "").unwrap();
        let absent = top.join("absent");
        let find = |places: &[&PathBuf]| {
            find_in("it", &places.iter().map(|it| (*it).clone()).collect::<Vec<_>>())
        };
        assert_eq!(find(&[&absent, &circle, &program]).unwrap(), program);
        let why = find(&[&absent, &circle]).unwrap_err();
        assert!(why.starts_with(&format!("{}: ", circle.display())), "{why}");
        assert!(!why.contains("not found") && why.contains("; help: "), "{why}");
        let why = find(&[&absent, &top.join("directory"), &program.join("below")]).unwrap_err();
        assert!(why.starts_with("it: not found at "), "{why}");
        fs::remove_dir_all(&top).unwrap();
    }
}
