//! Composes documents: edits, chosen by the input bytes, of a valid document, because almost valid
//! input reaches deeper than random bytes. Any bytes must give a document, and always the same one.

use crate::pieces::PIECES;

const REQUEST: &str = include_str!("../corpus/request/seed.md");
const RESULT: &str = include_str!("../corpus/result/upstream.md");

/// Returns the document for these bytes. The first byte chooses the initial document. Each further
/// three bytes are an edit: the operation, the line, and the piece.
#[must_use]
pub fn document(bytes: &[u8]) -> String {
    let (first, edits) = bytes.split_first().unwrap_or((&0, &[]));
    let start = if first & 1 == 0 { REQUEST } else { RESULT };
    let mut lines: Vec<String> = start.lines().map(str::to_owned).collect();
    for edit in edits.chunks_exact(3) {
        let [what, line, piece] = [edit[0], edit[1], edit[2]];
        apply(&mut lines, what, usize::from(line), usize::from(piece));
    }
    let ending = if first & 2 == 0 { "\n" } else { "\r\n" };
    lines.iter().flat_map(|line| [line.as_str(), ending]).collect()
}

fn apply(lines: &mut Vec<String>, what: u8, line: usize, piece: usize) {
    if lines.is_empty() {
        return;
    }
    let at = line % lines.len();
    let text = PIECES[piece % PIECES.len()];
    match what % 8 {
        0 => lines[at] = text.to_owned(),
        1 => lines.insert(at, text.to_owned()),
        2 => drop(lines.remove(at)),
        3 => lines.insert(at, lines[piece % lines.len()].clone()),
        4 => lines[at].push_str(text),
        5 => lines[at].insert_str(0, text),
        6 => splice(&mut lines[at], usize::from(what / 8), text),
        _ => lines[at] = lines[at].repeat(1 + piece % 4),
    }
}

/// Inserts the piece at this fraction of the line, in thirty-seconds.
fn splice(line: &mut String, share: usize, text: &str) {
    let mut at = line.len() * share / 32;
    while !line.is_char_boundary(at) {
        at -= 1;
    }
    line.insert_str(at, text);
}
