//! The line about the patch of a one-off command. It must never count the files of another patch
//! than that of the record.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use crate::commands::approve::review::ReviewData;
use crate::output::figures::count;
use crate::output::{self, human};

/// The beginning of the first line about a file in a patch. No other line begins so.
const FILE_LINE: &[u8] = b"diff --git ";

/// Prints the copy of the patch and the number of changed files. Without a patch, prints nothing.
pub(super) fn print(case: &ReviewData, record: &Path, out: &Path) {
    let request = case.preview.as_ref().map(|preview| preview.request());
    let Some(patch) = request.and_then(|request| request.patch()) else { return };
    // A patch that is too large was left out, which the outcome states.
    let Ok(file) = File::open(record.join("artifacts").join(patch.path)) else { return };
    let Ok(files) = changed_files(BufReader::new(file)) else { return };
    let changes = match files {
        0 => "no changes".to_owned(),
        files => count(files, "file changed", "files changed"),
    };
    output::stderr_line(format_args!("{}: {changes}", human::name(&out.join(patch.path))));
}

/// Returns the number of files. A file that became a link has two entries, one after the other.
fn changed_files(mut patch: impl BufRead) -> io::Result<u64> {
    let (mut files, mut line) = (0, Vec::new());
    let mut last: Vec<u8> = Vec::new();
    while patch.read_until(b'\n', &mut line)? > 0 {
        if line.starts_with(FILE_LINE) && line != last {
            files += 1;
            last.clone_from(&line);
        }
        line.clear();
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::changed_files;

    #[test]
    fn each_file_counts_once() {
        let patch = "diff --git a/x b/x\ndeleted file mode 100644\ndiff --git a/x b/x\n\
                     new file mode 120000\ndiff --git a/y b/y\n@@ -1 +1 @@\n-diff --git a/z b/z\n\
                     +diff --git a/z b/z2\n";
        assert_eq!(changed_files(patch.as_bytes()).unwrap(), 2);
        assert_eq!(changed_files(&b""[..]).unwrap(), 0);
    }
}
