//! Programs of sed and awk that run commands. Only what surely does counts: a `|` in a string or
//! an `e` in a text must never be taken for one.

/// `system(…)`, `print | "cmd"`, `"cmd" | getline`.
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

/// GNU sed's command `e` and the flag `e` of its `s`.
pub(super) fn sed_executes(script: &str) -> bool {
    script.split(['\n', ';', '{', '}']).any(|command| {
        let command = after_address(command.trim_start());
        match command.strip_prefix('e') {
            Some(rest) => rest.is_empty() || rest.starts_with(' '),
            None => flags(command).is_some_and(|flags| flags.contains('e')),
        }
    })
}

/// The command after `1`, `$`, `/x/`, `1,5`, `/x/I,+3` and `!`.
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

/// What follows `s/x/y/`.
fn flags(command: &str) -> Option<&str> {
    let rest = command.strip_prefix('s')?;
    let mark = rest.chars().next().filter(|c| !c.is_alphanumeric() && !c.is_whitespace())?;
    let rest = rest.get(mark.len_utf8()..)?;
    let rest = rest.get(closing(rest, mark)? + mark.len_utf8()..)?;
    let flags = rest.get(closing(rest, mark)? + mark.len_utf8()..)?;
    // `w` takes a file name, which is none of the flags.
    Some(flags.split(['w', ' ']).next().unwrap_or(""))
}

/// The byte of the next mark that no backslash escapes.
fn closing(text: &str, mark: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let found = c == mark && !escaped;
        escaped = c == '\\' && !escaped;
        found.then_some(at)
    })
}
