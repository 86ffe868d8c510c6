//! Detects brace expansion exactly as bash does it, quirks included: a word must never mean one
//! thing to a reader and another to bash. It takes one pass at any nesting.

/// Returns true if bash would expand braces in the word as written, with its quotes. The result is
/// meaningless for a word with a bare `$` or backquote; such a word is refused anyway.
pub(crate) fn expands(raw: &[char]) -> bool {
    if !raw.contains(&'{') {
        return false;
    }
    let bare = bare_flags(raw);
    if !bare.contains(&true) {
        return false;
    }
    let closing = closing(raw, &bare);
    // The point where bash restarts: the beginning, and after each brace pair that does not expand.
    let mut start = 0;
    let mut at = 0;
    while let Some(&c) = raw.get(at) {
        let opens = c == '{' && is_set(&bare, at) && !is_plain_pair(raw, start, at);
        let Some(close) = closing.get(at).copied().flatten().filter(|_| opens) else {
            at += 1;
            continue;
        };
        let inner = raw.get(at + 1..close).unwrap_or_default();
        if has_comma(inner) || is_sequence(inner) {
            return true;
        }
        start = close + 1;
        at = start;
    }
    false
}

fn is_set(flags: &[bool], at: usize) -> bool {
    flags.get(at).copied().unwrap_or(false)
}

/// Flags each character that is outside quotes, not a quote, and not escaped.
fn bare_flags(raw: &[char]) -> Vec<bool> {
    let mut quote = None;
    let mut escaped = false;
    let mut flags = Vec::with_capacity(raw.len());
    for &c in raw {
        let mut flag = false;
        if escaped {
            escaped = false;
        } else if c == '\\' && quote != Some('\'') {
            escaped = true;
        } else if quote == Some(c) {
            quote = None;
        } else if quote.is_none() && (c == '\'' || c == '"') {
            quote = Some(c);
        } else {
            flag = quote.is_none();
        }
        flags.push(flag);
    }
    flags
}

/// Returns, for each bare `{`, the `}` that bash takes as its end. It is the first one on the same
/// level after a comma or `..` on that level. An earlier `}` on that level is a plain character.
fn closing(raw: &[char], bare: &[bool]) -> Vec<Option<usize>> {
    let mut closing = vec![None; raw.len()];
    // Scans from the right. `open` holds each `}` not yet paired with a `{`, the nearest last.
    // `end_of_list` holds, for each level, the end of the list whose separator comes next.
    let mut open = Vec::new();
    let mut end_of_list = vec![None; raw.len() + 1];
    for at in (0..raw.len()).rev() {
        let after = end_of_list.get(at + 1).copied().flatten();
        let mut here = after;
        if is_set(bare, at) {
            match raw.get(at) {
                Some('}') => open.push(at),
                Some('{') => {
                    if let Some(slot) = closing.get_mut(at) {
                        *slot = after;
                    }
                    // The outer level continues after the matching `}`, if there is one.
                    here = open.pop().and_then(|close| end_of_list.get(close + 1).copied()?);
                }
                Some(_) if is_separator(raw, at) => here = open.last().copied(),
                _ => {}
            }
        }
        if let Some(slot) = end_of_list.get_mut(at) {
            *slot = here;
        }
    }
    closing
}

fn is_separator(raw: &[char], at: usize) -> bool {
    match raw.get(at) {
        Some(',') => true,
        Some('.') => raw.get(at + 1) == Some(&'.') && raw.get(at + 2) != Some(&'}'),
        _ => false,
    }
}

/// Returns true for `{}` or a lone `{` at the start or after an escaped blank; bash keeps these.
fn is_plain_pair(raw: &[char], start: usize, at: usize) -> bool {
    let blank = |c: &char| *c == ' ' || *c == '\t';
    let before = at.checked_sub(1).filter(|_| at > start).and_then(|before| raw.get(before));
    let after = raw.get(at + 1);
    before.is_none_or(blank) && after.is_none_or(|c| blank(c) || *c == '}')
}

/// Returns true for a comma without a backslash before it. Bash ignores quotes here.
fn has_comma(inner: &[char]) -> bool {
    let mut escaped = false;
    inner.iter().any(|&c| {
        let found = c == ',' && !escaped;
        escaped = c == '\\' && !escaped;
        found
    })
}

/// Returns true for `x..y` or `x..y..step` of whole numbers or single ASCII letters.
fn is_sequence(inner: &[char]) -> bool {
    const LONGEST: usize = 70;
    if inner.len() > LONGEST {
        return false;
    }
    let text: String = inner.iter().collect();
    let Some((first, rest)) = text.split_once("..") else { return false };
    let (last, step) = rest.split_once("..").map_or((rest, "0"), |(last, step)| (last, step));
    let letter = |end: &str| end.len() == 1 && end.chars().all(|c| c.is_ascii_alphabetic());
    let number = |end: &str| end.parse::<i64>().is_ok();
    number(step) && ((letter(first) && letter(last)) || (number(first) && number(last)))
}
