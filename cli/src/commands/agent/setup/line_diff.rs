//! A unified diff of two texts that differ in one place.

use std::path::Path;

use model::escape_line;

/// The lines that are shown on both sides of the change.
const CONTEXT: usize = 3;

/// Returns the diff. `None` is a file that does not exist.
pub(super) fn unified(path: &Path, before: Option<&str>, after: Option<&str>) -> String {
    let name = |text: Option<&str>| match text {
        Some(_) => escape_line(&path.display().to_string()),
        None => "/dev/null".to_owned(),
    };
    let head = format!("--- {}\n+++ {}\n", name(before), name(after));
    let lines = |text: Option<&str>| -> Vec<String> {
        text.unwrap_or_default().split_inclusive('\n').map(str::to_owned).collect()
    };
    head + &hunk(&lines(before), &lines(after))
}

fn hunk(before: &[String], after: &[String]) -> String {
    let same = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let (old, new) = (&before[same..], &after[same..]);
    let pairs = old.iter().rev().zip(new.iter().rev());
    let same_end = pairs.take_while(|(one, other)| one == other).count();
    let (old, tail) = old.split_at(old.len() - same_end);
    let new = &new[..new.len() - same_end];
    let lead = &before[same.saturating_sub(CONTEXT)..same];
    let tail = &tail[..same_end.min(CONTEXT)];
    let range = |changed: usize| {
        let count = lead.len() + changed + tail.len();
        // A side without lines counts from 0.
        let first = same - lead.len() + usize::from(count > 0);
        format!("{first},{count}")
    };
    let mut text = format!("@@ -{} +{} @@\n", range(old.len()), range(new.len()));
    for (mark, lines) in [(' ', lead), ('-', old), ('+', new), (' ', tail)] {
        for line in lines {
            text.push(mark);
            text.push_str(line);
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(before: Option<&str>, after: Option<&str>) -> String {
        unified(Path::new("/x/y"), before, after)
    }

    #[test]
    fn a_new_file_is_added_as_a_whole() {
        let text = diff(None, Some("a\nb\n"));
        assert_eq!(text, "--- /dev/null\n+++ /x/y\n@@ -0,0 +1,2 @@\n+a\n+b\n");
        let text = diff(Some("a\nb\n"), None);
        assert_eq!(text, "--- /x/y\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n");
    }

    #[test]
    fn a_change_has_three_lines_around_it() {
        let text = diff(Some("1\n2\n3\n4\n5\n6\n7\n8\n"), Some("1\n2\n3\n4\n5\nx\n6\n7\n8\n"));
        let wanted = "--- /x/y\n+++ /x/y\n@@ -3,6 +3,7 @@\n 3\n 4\n 5\n+x\n 6\n 7\n 8\n";
        assert_eq!(text, wanted);
        // Equal lines on both sides of the change count once.
        let text = diff(Some("a\na\n"), Some("a\na\na\n"));
        assert_eq!(text, "--- /x/y\n+++ /x/y\n@@ -1,2 +1,3 @@\n a\n a\n+a\n");
    }

    #[test]
    fn a_missing_line_end_is_shown() {
        let text = diff(Some("a\n}"), Some("a\nb\n}"));
        let end = "\\ No newline at end of file\n";
        assert_eq!(text, format!("--- /x/y\n+++ /x/y\n@@ -1,2 +1,3 @@\n a\n+b\n }}\n{end}"));
        let text = diff(Some("a"), Some("a\nb\n"));
        assert_eq!(text, format!("--- /x/y\n+++ /x/y\n@@ -1,1 +1,2 @@\n-a\n{end}+a\n+b\n"));
    }
}
