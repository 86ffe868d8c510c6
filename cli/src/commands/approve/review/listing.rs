//! The text of an input: numbered lines, `!` before flagged ones. Omissions are always stated.

use validator::{Request, reveal_line};

use super::data::ReviewData;
use super::inputs::{DeclaredInput, FoundInput, InputFile};
use super::model::InputTexts;
use super::page::ReviewPage;
use super::reading::{InputReading, ReadingText};
use crate::output::figures::count;

pub(super) fn text(
    page: &mut ReviewPage,
    seen: &DeclaredInput,
    request: &Request,
    texts: InputTexts,
) {
    let Ok(found) = &seen.found else { return };
    page.title(&format!("/in/{}", reveal_line(&seen.name)));
    let named = is_named(&seen.name, request);
    let found = match found {
        FoundInput::File(file) => file,
        FoundInput::Folder(folder) => return folder.print(page, named),
    };
    match InputReading::of(&seen.name, found, named, texts) {
        InputReading::Binary(kind) if named => page.line(format_args!(
            "! {kind}, not shown, and the COMMAND NAMES IT: this review cannot show what would run"
        )),
        InputReading::Binary(kind) => page.line(format_args!("  {kind}, not shown")),
        InputReading::Text(text) => lines(page, &text, found),
    }
}

pub(super) fn omitted(case: &ReviewData, texts: InputTexts) -> Option<String> {
    let request = case.preview.as_ref()?.request();
    let (mut lines, mut marked, mut chars, mut bytes, mut files) = (0, 0, 0, 0, 0);
    let mut in_folders = 0;
    for seen in &case.inputs {
        let found = match &seen.found {
            Ok(FoundInput::File(file)) => file,
            Ok(FoundInput::Folder(folder)) => {
                in_folders += folder.tree.files;
                continue;
            }
            Err(_) => continue,
        };
        match InputReading::of(&seen.name, found, is_named(&seen.name, request), texts) {
            InputReading::Binary(_) => files += 1,
            InputReading::Text(text) => {
                lines += text.lines_more;
                marked += text.marked_more;
                chars += text.lines.iter().map(|line| line.chars_more).sum::<usize>();
                bytes += text.bytes_more;
            }
        }
    }
    let lines = match marked {
        0 => (lines > 0).then(|| format!("{lines} lines")),
        marked => Some(format!("{lines} lines, {marked} of them marked")),
    };
    let parts = [
        lines,
        (chars > 0).then(|| format!("{chars} characters of long lines")),
        (bytes > 0).then(|| format!("{bytes} bytes beyond the display limit")),
        (files > 0).then(|| format!("{files} files that are not text")),
        (in_folders > 0).then(|| format!("{} in folders", count(in_folders, "file", "files"))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns whether any word of the command could refer to the file, or to something in the folder:
/// alone, after an option, or in a URL. An interpreter may run any file that it is given.
pub(super) fn is_named(name: &str, request: &Request) -> bool {
    request.argv().iter().skip(1).any(|word| names_file(word, name))
}

fn names_file(word: &str, name: &str) -> bool {
    let wanted: Vec<&str> = name.trim_end_matches('/').split('/').collect();
    let is_folder = name.ends_with('/');
    let names = |path: Vec<&str>| path == wanted || is_folder && path.starts_with(&wanted);
    word.char_indices().any(|(at, _)| parts_below_in(&word[at..]).is_some_and(names))
}

/// Returns the components of a path relative to `/in`, the working directory, as the kernel would
/// resolve it. `/in` contains no links.
fn parts_below_in(path: &str) -> Option<Vec<&str>> {
    let mut parts = if path.starts_with('/') { Vec::new() } else { vec!["in"] };
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    match parts.split_first() {
        Some((&"in", below)) => Some(below.to_vec()),
        _ => None,
    }
}

fn lines(page: &mut ReviewPage, text: &ReadingText, found: &InputFile) {
    if found.bytes == 0 {
        page.line(format_args!("  empty"));
    }
    if text.not_utf8 > 0 {
        page.line(format_args!("  ! {} bytes are not UTF-8, shown as \\x..", text.not_utf8));
    }
    let width = text.lines.last().map_or(1, |line| line.number).to_string().len();
    for line in &text.lines {
        let mark = if line.marks.is_empty() { ' ' } else { '!' };
        page.line(format_args!("{mark} {:>width$} | {}", line.number, line.text));
        if line.chars_more > 0 {
            page.line(format_args!("  {:>width$}   … {} more characters", "", line.chars_more));
        }
        for (code, message) in &line.marks {
            page.line(format_args!("! {:>width$}   ^ {code}: {}", "", reveal_line(message)));
        }
    }
    if text.lines_more > 0 {
        let marked = match text.marked_more {
            0 => String::new(),
            marked => format!(", {marked} of them marked"),
        };
        page.line(format_args!("… {} more lines{marked}; --full shows them", text.lines_more));
    }
    if text.bytes_more > 0 {
        page.line(format_args!("… {} more bytes: hashed, but not shown", text.bytes_more));
    }
}

#[cfg(test)]
mod tests {
    use super::names_file;

    #[test]
    fn every_spelling_of_a_path_names_the_file() {
        for word in [
            "x.bin",
            "./x.bin",
            "/in//x.bin",
            "/in/./x.bin",
            "//in/x.bin",
            "../in/x.bin",
            "d/../x.bin",
            "--require=./x.bin",
            "--import=file:///in/x.bin",
            "-r./x.bin",
            "-rx.bin",
        ] {
            assert!(names_file(word, "x.bin"), "{word}");
        }
        assert!(names_file("--import=/in/d//x", "d/x"));
        for word in ["/in/repo", "repo/", "/in/repo/a/b.py", "--file=repo/a", "-srepo/../repo"] {
            assert!(names_file(word, "repo/"), "{word}");
        }
        for word in ["repo2", "/in/rep", "rep/o", "repo/..", "/in/repo/.."] {
            assert!(!names_file(word, "repo/"), "{word}");
        }
        for word in ["x.bin2", "d/x", "x.bin/y", "--require", "/x.bin/.."] {
            assert!(!names_file(word, "x.bin"), "{word}");
        }
    }
}
