//! Removes what differs between two installations of the same packages: the name of the installer,
//! the source of each package, lock files, and byte code. `RECORD` keeps the files of the wheel in
//! one order, because some packages look them up.

use std::fs;
use std::path::Path;

use crate::source::document::{SourceDocument, overwrite, remove_file};
use crate::source::error::SourceError;

/// Files of a package's `.dist-info` that installers write.
const INSTALLER_FILES: [&str; 5] =
    ["INSTALLER", "REQUESTED", "direct_url.json", "uv_build.json", "uv_cache.json"];

/// Makes the installed packages independent of their installer.
pub(super) fn tidy(tree: &Path) -> Result<(), SourceError> {
    // uv's lock of the directory.
    remove_file(&tree.join(".lock"))?;
    remove_byte_code(tree)?;
    for entry in fs::read_dir(tree).map_err(SourceError::io(tree))? {
        let path = entry.map_err(SourceError::io(tree))?.path();
        if path.extension().is_some_and(|it| it == "dist-info") && path.is_dir() {
            tidy_package(&path)?;
        }
    }
    Ok(())
}

fn tidy_package(dist_info: &Path) -> Result<(), SourceError> {
    for name in INSTALLER_FILES {
        remove_file(&dist_info.join(name))?;
    }
    let record = dist_info.join("RECORD");
    if record.is_file() {
        let document = SourceDocument::read(&record)?;
        overwrite(&record, normal_record(document.text()?).as_bytes())?;
    }
    Ok(())
}

/// Removes each `__pycache__`: the byte code is compiled for the sandbox afterwards.
fn remove_byte_code(directory: &Path) -> Result<(), SourceError> {
    for entry in fs::read_dir(directory).map_err(SourceError::io(directory))? {
        let entry = entry.map_err(SourceError::io(directory))?;
        let path = entry.path();
        if !entry.file_type().map_err(SourceError::io(&path))?.is_dir() {
            continue;
        }
        match entry.file_name() == "__pycache__" {
            true => fs::remove_dir_all(&path).map_err(SourceError::io(&path))?,
            false => remove_byte_code(&path)?,
        }
    }
    Ok(())
}

/// Returns the rows of a `RECORD` for files that every installation has, in byte order. Rows have
/// no line ends inside: names with control characters are refused later.
fn normal_record(text: &str) -> String {
    let mut rows: Vec<&str> = text.lines().filter(|row| is_of_wheel(row)).collect();
    rows.sort_unstable();
    rows.dedup();
    rows.iter().map(|row| format!("{row}\n")).collect()
}

fn is_of_wheel(row: &str) -> bool {
    let name = row.trim_start_matches('"').split(',').next().unwrap_or_default();
    let is_changed = name.starts_with("bin/") || name.starts_with("../") || name.starts_with('/');
    let is_code = name.contains("__pycache__/") || name.ends_with(".pyc");
    let of_installer = INSTALLER_FILES.iter().any(|file| {
        name.strip_suffix(file).is_some_and(|directory| directory.ends_with(".dist-info/"))
    });
    !name.is_empty() && !is_changed && !is_code && !of_installer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_names_the_files_of_the_wheel_only() {
        let of_pip = "../../bin/x,sha256=a,1\nx/b.py,sha256=b,2\nx/__pycache__/b.pyc,,\n\
                      x/a.py,sha256=c,3\nx-1.dist-info/INSTALLER,sha256=d,4\n\
                      x-1.dist-info/RECORD,,\n";
        let of_uv = "bin/x,sha256=e,1\nx-1.dist-info/RECORD,,\nx-1.dist-info/REQUESTED,,\n\
                     x/a.py,sha256=c,3\nx/b.py,sha256=b,2\n";
        let expected = "x-1.dist-info/RECORD,,\nx/a.py,sha256=c,3\nx/b.py,sha256=b,2\n";
        assert_eq!(normal_record(of_pip), expected);
        assert_eq!(normal_record(of_uv), expected);
    }
}
