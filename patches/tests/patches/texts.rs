//! The texts of patches are those of git, and they have bounds.

#![allow(clippy::unwrap_used, reason = "a test that cannot prepare fails")]

use patches::{PatchError, PatchSummary, PatchWriter, PatchedFile, PatchedFileKind};

use PatchedFileKind::{Executable, Regular, Symlink};

const HELLO: &str = "ce013625030ba8dba906f756967f9e9ca394464a";
const ABSENT: &str = "0000000000000000000000000000000000000000";

fn version(kind: PatchedFileKind, text: &str) -> Option<PatchedFile<'_>> {
    Some(PatchedFile { kind, bytes: text.as_bytes() })
}

fn write(
    path: &str,
    before: Option<PatchedFile<'_>>,
    after: Option<PatchedFile<'_>>,
    bytes_max: u64,
) -> Result<(String, PatchSummary), PatchError> {
    let mut out = Vec::new();
    let mut writer = PatchWriter::new(&mut out, bytes_max);
    writer.file(path, before, after)?;
    let summary = writer.finish()?;
    Ok((String::from_utf8(out).unwrap(), summary))
}

fn patch(path: &str, before: Option<PatchedFile<'_>>, after: Option<PatchedFile<'_>>) -> String {
    write(path, before, after, u64::MAX).unwrap().0
}

/// Returns the patch of two texts from its first hunk on.
fn hunks(before: &str, after: &str) -> String {
    let text = patch("a", version(Regular, before), version(Regular, after));
    let at = text.find("@@").unwrap();
    text[at..].to_owned()
}

/// Returns the numbers up to 20, one a line, some of them replaced.
fn numbers(replaced: &[u32]) -> String {
    let line = |number| match replaced.contains(&number) {
        true => format!("new {number}\n"),
        false => format!("{number}\n"),
    };
    (1..=20).map(line).collect()
}

fn hunk_heads(replaced: &[u32]) -> Vec<String> {
    let text = hunks(&numbers(&[]), &numbers(replaced));
    text.lines().filter(|line| line.starts_with("@@")).map(str::to_owned).collect()
}

#[test]
fn a_changed_file_has_ids_labels_and_a_hunk() {
    let wanted = format!(
        "diff --git a/greeting b/greeting\n\
         index {HELLO}..3b18e512dba79e4c8300dd08aeb37f8e728b8dad 100644\n\
         --- a/greeting\n\
         +++ b/greeting\n\
         @@ -1 +1 @@\n\
         -hello\n\
         +hello world\n"
    );
    let found = patch("greeting", version(Regular, "hello\n"), version(Regular, "hello world\n"));
    assert_eq!(found, wanted);
}

#[test]
fn created_and_deleted_files_have_their_modes() {
    let created = format!(
        "diff --git a/bin/run b/bin/run\n\
         new file mode 100755\n\
         index {ABSENT}..{HELLO}\n\
         --- /dev/null\n\
         +++ b/bin/run\n\
         @@ -0,0 +1 @@\n\
         +hello\n"
    );
    assert_eq!(patch("bin/run", None, version(Executable, "hello\n")), created);
    let deleted = format!(
        "diff --git a/x b/x\n\
         deleted file mode 100644\n\
         index {HELLO}..{ABSENT}\n\
         --- a/x\n\
         +++ /dev/null\n\
         @@ -1 +0,0 @@\n\
         -hello\n"
    );
    assert_eq!(patch("x", version(Regular, "hello\n"), None), deleted);
}

#[test]
fn empty_files_and_modes_alone_have_no_hunk() {
    let empty = format!(
        "diff --git a/e b/e\n\
         new file mode 100644\n\
         index {ABSENT}..e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n"
    );
    assert_eq!(patch("e", None, version(Regular, "")), empty);
    let mode = "diff --git a/e b/e\nold mode 100644\nnew mode 100755\n";
    assert_eq!(patch("e", version(Regular, "x\n"), version(Executable, "x\n")), mode);
}

#[test]
fn a_mode_that_changes_is_not_in_the_line_of_ids() {
    let text = patch("e", version(Regular, "hello\n"), version(Executable, "hello world\n"));
    assert!(text.contains("\nold mode 100644\nnew mode 100755\nindex "), "{text}");
    assert!(text.contains("8b8dad\n--- a/e\n"), "{text}");
}

#[test]
fn missing_newlines_are_stated() {
    let removed = "@@ -1 +1 @@\n-hello\n\\ No newline at end of file\n+hello\n";
    assert_eq!(hunks("hello", "hello\n"), removed);
    let context = "@@ -1,2 +1,2 @@\n-a\n+b\n z\n\\ No newline at end of file\n";
    assert_eq!(hunks("a\nz", "b\nz"), context);
    let both = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n";
    assert_eq!(hunks("a", "b"), both);
}

#[test]
fn a_link_that_becomes_a_file_is_deleted_and_created() {
    let wanted = format!(
        "diff --git a/l b/l\n\
         deleted file mode 120000\n\
         index b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0..{ABSENT}\n\
         --- a/l\n\
         +++ /dev/null\n\
         @@ -1 +0,0 @@\n\
         -hello\n\
         \\ No newline at end of file\n\
         diff --git a/l b/l\n\
         new file mode 100644\n\
         index {ABSENT}..{HELLO}\n\
         --- /dev/null\n\
         +++ b/l\n\
         @@ -0,0 +1 @@\n\
         +hello\n"
    );
    let (text, summary) =
        write("l", version(Symlink, "hello"), version(Regular, "hello\n"), u64::MAX).unwrap();
    assert_eq!(text, wanted);
    assert_eq!(summary.files, 1);
}

#[test]
fn hunks_are_joined_while_their_context_meets() {
    assert_eq!(hunk_heads(&[2, 19]), ["@@ -1,5 +1,5 @@", "@@ -16,5 +16,5 @@"]);
    assert_eq!(hunk_heads(&[5, 12]), ["@@ -2,14 +2,14 @@"]);
    assert_eq!(hunk_heads(&[5, 13]), ["@@ -2,7 +2,7 @@", "@@ -10,7 +10,7 @@"]);
    assert_eq!(hunk_heads(&[1, 20]), ["@@ -1,4 +1,4 @@", "@@ -17,4 +17,4 @@"]);
}

#[test]
fn names_are_quoted_and_ended() {
    let text = patch("a \"b", version(Regular, "1\n"), version(Regular, "2\n"));
    assert!(text.starts_with("diff --git \"a/a \\\"b\" \"b/a \\\"b\"\n"), "{text}");
    assert!(text.contains("\n--- \"a/a \\\"b\"\t\n+++ \"b/a \\\"b\"\t\n"), "{text}");
}

#[test]
fn a_nul_makes_a_file_binary() {
    let text = patch("b", version(Regular, "a\0b"), version(Regular, ""));
    let (head, binary) = text.split_once("GIT binary patch\n").unwrap();
    assert!(!head.contains("---"), "{head}");
    let lines: Vec<&str> = binary.lines().collect();
    assert_eq!((lines[0], lines[2], lines[3], lines[5]), ("literal 0", "", "literal 3", ""));
    // Eight bytes of zlib for nothing; each line begins with its length.
    assert!(lines[1].starts_with('H') && lines[1].len() == 11, "{binary}");
    assert_eq!(lines.len(), 6);
}

#[test]
fn equal_files_are_no_part_of_a_patch() {
    let (text, summary) =
        write("a", version(Regular, "x"), version(Regular, "x"), u64::MAX).unwrap();
    assert_eq!((text.as_str(), summary), ("", PatchSummary { files: 0, bytes: 0 }));
    assert_eq!(patch("a", None, None), "");
}

#[test]
fn a_patch_has_at_most_the_bytes_of_its_limit() {
    let (before, after) = (version(Regular, "hello\n"), version(Regular, "hello world\n"));
    let (text, summary) = write("a", before, after, u64::MAX).unwrap();
    let length = u64::try_from(text.len()).unwrap();
    assert_eq!(summary, PatchSummary { files: 1, bytes: length });
    assert!(write("a", before, after, length).is_ok());
    for bytes_max in [0, 1, length / 2, length - 1] {
        let refused = write("a", before, after, bytes_max);
        assert!(matches!(refused, Err(PatchError::TooLarge)), "{bytes_max}");
    }
}

/// Without a bound, this would take some 10^8 comparisons.
#[test]
fn a_text_with_too_many_differences_is_replaced() {
    let text = |name: &str| -> String {
        let half = |part: &str| -> String {
            (0..5_000).map(|number| format!("{name} {part} {number}\n")).collect()
        };
        format!("head\n{}same\n{}tail\n", half("first"), half("second"))
    };
    let found = hunks(&text("old"), &text("new"));
    assert!(found.starts_with("@@ -1,10003 +1,10003 @@\n head\n-old first 0\n"));
    assert!(found.contains("\n-same\n") && found.contains("\n+same\n"));
    assert!(found.ends_with("\n+new second 4999\n tail\n"));
    assert_eq!(found.matches("@@ -").count(), 1);
}

#[test]
fn equal_calls_write_equal_bytes() {
    let (before, after) = (numbers(&[3, 4, 9]), numbers(&[4, 5, 17]));
    assert_eq!(hunks(&before, &after), hunks(&before, &after));
}
