//! Detects sed and awk programs that run commands, never by a `|` in a string or an `e` in text.

/// Returns true for `system(…)`, `print | "cmd"` or `"cmd" | getline`.
pub(super) fn awk_executes(code: &str) -> bool {
    let mut text = false;
    let mut escaped = false;
    let mut before = ' ';
    for (at, c) in code.char_indices() {
        let rest = code.get(at..).unwrap_or("");
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => text = !text,
            _ if text => {}
            '|' if before != '|' => {
                let rest = rest.get(1..).unwrap_or("");
                let rest = rest.strip_prefix('&').unwrap_or(rest).trim_start();
                if rest.starts_with('"') || rest.starts_with("getline") {
                    return true;
                }
            }
            's' if !before.is_alphanumeric() && before != '_' => {
                let called = rest.strip_prefix("system").map(str::trim_start);
                if called.is_some_and(|rest| rest.starts_with('(')) {
                    return true;
                }
            }
            _ => {}
        }
        before = c;
    }
    false
}

/// Returns true for the command `e` of GNU sed, or the flag `e` of its `s`.
pub(super) fn sed_executes(script: &str) -> bool {
    script.split(['\n', ';', '{', '}']).any(|command| {
        let command = after_address(command.trim_start());
        match command.strip_prefix('e') {
            Some(rest) => rest.is_empty() || rest.starts_with(' '),
            None => flags(command).is_some_and(|flags| flags.contains('e')),
        }
    })
}

/// Returns the command after an address: `1`, `$`, `/x/`, `1,5`, `/x/I,+3` or `!`.
fn after_address(command: &str) -> &str {
    let address = |c: char| c.is_ascii_digit() || "$,+~! I".contains(c);
    let mut rest = command.trim_start_matches(address);
    for _ in 0..2 {
        let Some(pattern) = rest.strip_prefix('/') else { break };
        let end = closing(pattern, '/').unwrap_or(pattern.len());
        rest = pattern.get(end..).unwrap_or("").trim_start_matches('/').trim_start_matches(address);
    }
    rest
}

/// Returns the flags after `s/x/y/`.
fn flags(command: &str) -> Option<&str> {
    let rest = command.strip_prefix('s')?;
    let mark = rest.chars().next().filter(|c| !c.is_alphanumeric() && !c.is_whitespace())?;
    let rest = rest.get(mark.len_utf8()..)?;
    let rest = rest.get(closing(rest, mark)? + mark.len_utf8()..)?;
    let flags = rest.get(closing(rest, mark)? + mark.len_utf8()..)?;
    // The file name after `w` is not part of the flags.
    Some(flags.split(['w', ' ']).next().unwrap_or(""))
}

/// Returns the byte offset of the next mark without a backslash before it.
fn closing(text: &str, mark: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let found = c == mark && !escaped;
        escaped = c == '\\' && !escaped;
        found.then_some(at)
    })
}
