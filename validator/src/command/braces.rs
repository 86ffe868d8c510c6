//! Would bash expand the braces of this word? When in doubt the answer is yes: a quoted word is
//! always to be had, and a word must never mean one thing to a reader and another to bash.

/// A character of a word, and whether it was quoted.
pub(crate) type Marked = (char, bool);

/// Whether bash would expand braces in the word, found in one pass.
pub(crate) fn expansion(word: &[Marked]) -> bool {
    // `{` then `,` then `}`, all bare, covers every list that bash expands and a few it does not.
    let mut opened = false;
    let mut comma = false;
    let mut sequence_start = None;
    for (index, &(c, quoted)) in word.iter().enumerate() {
        if quoted {
            continue;
        }
        match c {
            '{' => {
                opened = true;
                sequence_start = Some(index);
            }
            ',' if opened => comma = true,
            '}' => {
                if comma {
                    return true;
                }
                let start = sequence_start.take();
                if let Some(start) = start
                    && is_sequence(word.get(start + 1..index).unwrap_or_default())
                {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// `x..y` or `x..y..step`, of whole numbers or single characters.
fn is_sequence(inner: &[Marked]) -> bool {
    const LONGEST: usize = 70;
    if inner.len() > LONGEST || inner.iter().any(|(_, quoted)| *quoted) {
        return false;
    }
    let text: String = inner.iter().map(|(c, _)| *c).collect();
    let ends: Vec<&str> = text.split("..").collect();
    let number = |end: &&str| end.parse::<i128>().is_ok();
    match ends.as_slice() {
        [first, last] | [first, last, _] => {
            let letters = first.chars().count() == 1 && last.chars().count() == 1;
            letters || (number(first) && number(last))
        }
        _ => false,
    }
}
