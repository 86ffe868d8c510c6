//! Comments, messages and pages use the words that other programs use: the comments of each Rust
//! file, string literals with a blank in shipped code, and Markdown pages (at the top, in `docs/`,
//! and each README). Backquotes, fenced blocks and the generated `docs/rules.md` are left out. If a
//! text must have one of these words, a comment with the marker `plain-english: quotation` exempts
//! the lines up to the next empty one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use toolexec_tests::{list, workspace};

use crate::allowances::{BreachCounts, check_allowance};
use crate::cycles::trees;
use crate::rust_text::{RustPart, pieces};
use crate::sources::sources;
use crate::terms::former_in_prose;

const MARKER: &str = "plain-english: quotation";

/// No heading and no line of a comment may begin with one of these words.
const OPENINGS: [&str; 7] = ["What", "Which", "Who", "How", "Where", "Whether", "Whatever"];

/// Returns the words of each phrase, by its first word.
fn phrases() -> BTreeMap<&'static str, Vec<(Vec<&'static str>, &'static str)>> {
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (phrase, better) in former_in_prose() {
        let words: Vec<_> = phrase.split(' ').collect();
        found.entry(words[0]).or_default().push((words, better));
    }
    found
}

/// Finds dialect in prose.
struct DialectReader {
    phrases: BTreeMap<&'static str, Vec<(Vec<&'static str>, &'static str)>>,
    findings: Vec<String>,
}

impl DialectReader {
    fn new() -> Self {
        Self { phrases: phrases(), findings: Vec::new() }
    }

    /// Reads prose that begins on a line. Names in backquotes are left out.
    fn read(&mut self, prose: &str, line: usize) {
        let mut words: Vec<(String, usize)> = Vec::new();
        let mut line = line;
        for (at, part) in prose.split('`').enumerate() {
            if at % 2 == 0 {
                for (at, row) in part.split('\n').enumerate() {
                    line += usize::from(at > 0);
                    let found = row.split(|c: char| !c.is_alphanumeric() && c != '_');
                    let found = found.filter(|word| !word.is_empty());
                    words.extend(found.map(|word| (word.to_ascii_lowercase(), line)));
                }
            } else {
                line += part.matches('\n').count();
                // The words on both sides of a name are not adjacent.
                words.push((String::new(), line));
            }
        }
        for (at, (word, line)) in words.iter().enumerate() {
            for (phrase, better) in self.phrases.get(word.as_str()).into_iter().flatten() {
                let found = words[at..].iter().map(|(word, _)| word.as_str()).take(phrase.len());
                if found.eq(phrase.iter().copied()) {
                    self.findings.push(format!("line {line}: `{}`: {better}", phrase.join(" ")));
                }
            }
        }
    }

    /// Reads the beginning of a heading or of a line of a comment.
    fn read_opening(&mut self, text: &str, line: usize) {
        let first = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        if OPENINGS.contains(&first) {
            self.findings
                .push(format!("line {line}: begins with `{first}`: name the subject first"));
        }
    }
}

/// Returns the dialect of a Rust file. Literals are read if users may see them.
fn in_rust(text: &str, with_literals: bool) -> Vec<String> {
    let mut reader = DialectReader::new();
    let exempt = exempt(text);
    // Consecutive comments are one text.
    let (mut block, mut begun, mut last) = (String::new(), 1, 0);
    for piece in pieces(text) {
        if exempt.contains(&piece.line) {
            continue;
        }
        if piece.part == RustPart::Text && with_literals && piece.text.contains(' ') {
            // A line break in it is two characters, the second of them a letter.
            reader.read(&piece.text.replace("\\n", " "), piece.line);
        }
        if piece.part != RustPart::Comment {
            continue;
        }
        let comment = piece.text.trim_start_matches(['/', '*', '!']).trim();
        reader.read_opening(comment, piece.line);
        if piece.line != last + 1 {
            reader.read(&block, begun);
            block.clear();
            begun = piece.line;
        }
        block.push_str(comment);
        block.push('\n');
        last = piece.line + comment.matches('\n').count();
    }
    reader.read(&block, begun);
    reader.findings
}

/// Returns the dialect of a page.
fn in_markdown(text: &str) -> Vec<String> {
    let mut reader = DialectReader::new();
    let exempt = exempt(text);
    let (mut paragraph, mut begun, mut fenced) = (String::new(), 1, false);
    for (line, row) in (1..).zip(text.lines()) {
        let fence = row.trim_start().starts_with("```");
        fenced ^= fence;
        let is_prose = !fence && !fenced && !exempt.contains(&line);
        if let Some(heading) = row.strip_prefix('#').filter(|_| is_prose) {
            reader.read_opening(heading.trim_start_matches('#').trim(), line);
        }
        if !is_prose || row.trim().is_empty() {
            reader.read(&paragraph, begun);
            paragraph.clear();
            begun = line + 1;
        } else {
            paragraph.push_str(row);
            paragraph.push('\n');
        }
    }
    reader.read(&paragraph, begun);
    reader.findings
}

/// Returns the lines that the marker exempts: its own, and all up to the next empty one.
fn exempt(text: &str) -> Vec<usize> {
    let (mut found, mut open) = (Vec::new(), false);
    if !text.contains(MARKER) {
        return found;
    }
    for (line, row) in (1..).zip(text.lines()) {
        open = (open || row.contains(MARKER)) && !row.trim().is_empty();
        if open {
            found.push(line);
        }
    }
    found
}

fn pages() -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for directory in ["", "docs"] {
        let pages = list(&workspace().join(directory)).into_iter();
        found
            .extend(pages.map(|name| Path::new(directory).join(name).to_str().unwrap().to_owned()));
    }
    found.push("tests/hostile/README.md".to_owned());
    found.retain(|name| name.ends_with(".md") && name != "docs/rules.md");
    assert!(found.len() > 15, "{found:?}: the search is broken");
    found
}

#[test]
fn plain_english() {
    let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let shipped: Vec<_> =
        trees().iter().flat_map(|tree| &tree.modules).map(|it| &it.file).collect();
    for source in sources() {
        let with_literals = shipped.contains(&&source.path);
        seen.insert(source.name().to_owned(), in_rust(&source.text, with_literals));
    }
    for page in pages() {
        let text = fs::read_to_string(workspace().join(&page)).unwrap();
        seen.insert(page, in_markdown(&text));
    }
    seen.retain(|_, seen| !seen.is_empty());
    let found: BreachCounts = seen.iter().map(|(file, seen)| (file.clone(), seen.len())).collect();
    let of = format!("words and openings that are not plain English, in {} files", found.len());
    check_allowance("plain_english", &of, &found, |file| {
        seen.get(file).map(|seen| seen.join("\n    "))
    });
}

#[test]
fn dialect_is_found_in_comments_and_messages() {
    let text =
        "//! Whoever reads it is\n//! no operator.\nfn told() { f(\"\\nnobody told me\", \"told\") }\n
/// Where it ends.\n/// `told` and `is` no `lane`, a lane_of it\nlet x = y; // Mend it\n";
    let seen = in_rust(text, true);
    let wanted = [
        "line 5: begins with `Where`",
        "line 1: `whoever`",
        "line 1: `is no`",
        "line 3: `nobody`",
        "line 3: `told`",
        "line 7: `mend`",
    ];
    assert_eq!(seen.len(), wanted.len(), "{seen:#?}");
    for wanted in wanted {
        assert!(seen.iter().any(|it| it.starts_with(wanted)), "{wanted}: {seen:#?}");
    }
    assert_eq!(in_rust(text, false).len(), wanted.len() - 2);
}

#[test]
fn dialect_is_found_on_pages() {
    let text = "# How it ends\n\nThe file is there\nalready; `nobody` reads\nit.\n\n```sh\necho nobody\n```\n
<!-- plain-english: quotation -->\n> nobody\n\nnobody\n";
    let seen = in_markdown(text);
    assert_eq!(seen.len(), 3, "{seen:#?}");
    assert!(seen[0].starts_with("line 1: begins with `How`"), "{seen:#?}");
    assert!(seen[1].starts_with("line 3: `is there already`"), "{seen:#?}");
    assert!(seen[2].starts_with("line 14: `nobody`"), "{seen:#?}");
}
