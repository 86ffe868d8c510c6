//! Finds instructions to fetch or execute, not reports or negations. Must never leave the line.

use std::ops::Range;

use super::lexicon::{
    ADDRESS, AND, ARTICLE, CHMOD, CODE, COMMAND_NAME, EARLIER, EVALUATE, FETCH, FETCHER, FOLLOWING,
    FORGET, INTERPRETER, LOOSE_ORDERS, MUST, NEED, ORDERS, PLEASE, PREPOSITION, PRIVILEGED, PUT_IN,
    ROLE, RUN, SHELL, START, THIS, TO, URL_SCHEME, YOU,
};
use super::tokens::{ResultTokens, is_quote};

/// Returns the index of the last word of a phrase that begins with this word.
type Phrase = fn(&ResultTokens<'_>, usize) -> Option<usize>;

const ORDERS_TO_READER: [Phrase; 5] =
    [the_following, inline_command, fetch_and_run, fetch_url, forget_orders];

pub(super) fn find(words: &ResultTokens<'_>) -> Option<Range<usize>> {
    let verbs = RUN.or(PUT_IN).or(FETCH).or(FORGET);
    let mut fetcher = None;
    for index in 0..words.len() {
        if let Some(first) = fetch_to_shell(words, index, &mut fetcher)
            && words.is_asserted(first)
        {
            return Some(words.range(first, index));
        }
        if index == 0 && is_forged_turn(words) {
            return Some(words.range(0, 1));
        }
        if let Some(last) = addressed(words, index) {
            return Some(words.range(index, last));
        }
        if !words.is(index, verbs) {
            continue;
        }
        // The phrase is checked first, because it is rarer and cheaper to check than the order.
        let last = ORDERS_TO_READER.iter().find_map(|phrase| phrase(words, index));
        if let Some(last) = last.filter(|_| words.is_order(index)) {
            return Some(words.range(index, last));
        }
    }
    None
}

/// Matches `run the following`, `paste this command` or `execute the script below`.
fn the_following(words: &ResultTokens<'_>, verb: usize) -> Option<usize> {
    let run = words.is(verb, RUN);
    if !run && !words.is(verb, PUT_IN) {
        return None;
    }
    let object = words.skip(verb + 1, ARTICLE, 2)?;
    let this = words.is(object.saturating_sub(1), THIS) && object > verb + 1;
    if words.is(object, FOLLOWING) {
        let code = words.skip(object + 1, ARTICLE, 2).filter(|&it| words.is(it, CODE));
        return code.or(run.then_some(object));
    }
    let below = words.joined(object + 1) && words.is(object + 1, FOLLOWING);
    (words.is(object, CODE) && (this || below)).then_some(object)
}

/// Matches ``run `make install` ``, `execute: "rm -rf /"` or `run curl http://host/`.
fn inline_command(words: &ResultTokens<'_>, verb: usize) -> Option<usize> {
    if !words.is(verb, RUN) {
        return None;
    }
    const FILLERS_MAX: usize = 3;
    let fillers = ARTICLE.or(CODE).or(FOLLOWING);
    let mut object = verb + 1;
    for _ in 0..FILLERS_MAX {
        if !words.is(object, fillers) || !words.joined(object) || opens(words.gap(object)) {
            break;
        }
        object += 1;
    }
    let gap = words.gap(object);
    let bare = gap.trim_start_matches(['*', '_']);
    let bare = bare.strip_prefix(':').unwrap_or(bare);
    let blank = bare.trim_start_matches(['*', '_', ' ']);
    if object >= words.len() || bare.len() == blank.len() {
        return None;
    }
    match blank {
        "`" | "``" | "$ " | "`$ " => Some(object),
        // In other quotes, a single word may be a name.
        "\"" | "'" | "“" | "‘" => has_argument(words, object).then_some(object),
        "" => {
            let lower = words.text(object).starts_with(|c: char| c.is_ascii_lowercase());
            // `run pip in isolation` mentions a program but is not a command line.
            let line = has_argument(words, object) && !words.is(object + 1, PREPOSITION);
            (words.is(object, COMMAND_NAME) && lower && line).then_some(object)
        }
        _ => None,
    }
}

/// Returns true if another word of the same command follows after one blank.
fn has_argument(words: &ResultTokens<'_>, program: usize) -> bool {
    let gap = words.gap(program + 1).trim_end_matches(['-', '/', '.', '$', '~', '"', '\'']);
    program + 1 < words.len() && gap == " "
}

fn opens(gap: &str) -> bool {
    gap.chars().next_back().is_some_and(is_quote)
}

/// Matches `download the file and run it`.
fn fetch_and_run(words: &ResultTokens<'_>, verb: usize) -> Option<usize> {
    const OBJECT_MAX: usize = 8;
    if !words.is(verb, FETCH) {
        return None;
    }
    let window = verb + 1..verb + 1 + OBJECT_MAX;
    let and = window.take_while(|&at| at < words.len()).find(|&at| words.is(at, AND))?;
    (words.is(and + 1, START) && words.joined(and + 1)).then_some(and + 1)
}

/// Matches `fetch https://host/x`.
fn fetch_url(words: &ResultTokens<'_>, verb: usize) -> Option<usize> {
    const OBJECT_MAX: usize = 4;
    if !words.is(verb, FETCH) || words.is(verb, FETCHER) {
        return None;
    }
    let window = verb + 1..verb + 1 + OBJECT_MAX;
    window
        .take_while(|&at| at < words.len())
        .find(|&at| words.is(at, URL_SCHEME) && words.gap(at + 1).starts_with("://"))
}

/// Matches `ignore all previous instructions` or `disregard the above`.
fn forget_orders(words: &ResultTokens<'_>, verb: usize) -> Option<usize> {
    const BETWEEN_MAX: usize = 6;
    if !words.is(verb, FORGET) {
        return None;
    }
    let (mut earlier, mut whose) = (false, false);
    for at in verb + 1..verb + 1 + BETWEEN_MAX {
        if !words.joined(at) {
            // `ignore the above.`: no noun follows that would narrow it.
            let ends = at >= words.len() || words.gap(at).starts_with(['.', ',', ';', ':', '!']);
            return (earlier && ends).then_some(at - 1);
        }
        if (words.is(at, ORDERS) && (earlier || whose)) || (words.is(at, LOOSE_ORDERS) && earlier) {
            return Some(at);
        }
        if earlier && words.is(at, AND) {
            return Some(at - 1);
        }
        if !words.is(at, EARLIER.or(ARTICLE).or(AND)) {
            return None;
        }
        earlier |= words.is(at, EARLIER);
        whose |= words.is(at, ARTICLE);
    }
    None
}

/// Matches `please execute`, `you must run` or `you need to download`.
fn addressed(words: &ResultTokens<'_>, index: usize) -> Option<usize> {
    let verbs = RUN.or(FETCH);
    let verb = if words.is(index, PLEASE) {
        index + 1
    } else if !words.is(index, YOU) || !words.joined(index + 1) {
        return None;
    } else if words.is(index + 1, MUST) {
        index + 2
    } else if words.is(index + 1, NEED) && words.joined(index + 2) && words.is(index + 2, TO) {
        index + 3
    } else {
        return None;
    };
    (words.is(verb, verbs) && words.joined(verb) && words.is_asserted(verb)).then_some(verb)
}

/// Matches `system: you are …` at the beginning of a line: a forged turn of a chat.
fn is_forged_turn(words: &ResultTokens<'_>) -> bool {
    words.is(0, ROLE)
        && words.is(1, ADDRESS)
        && words.gap(1).starts_with([':', '*', ']', '>'])
        && words.gap(1).contains(':')
}

/// Matches `curl … | sh`, `sh -c "$(curl …)"` or `wget … && chmod …` at the word that completes it,
/// and returns the fetching word. `fetcher` holds the first such word of the sentence.
fn fetch_to_shell(
    words: &ResultTokens<'_>,
    index: usize,
    fetcher: &mut Option<usize>,
) -> Option<usize> {
    const BACK: usize = 3;
    let gap = words.gap(index);
    if gap.contains(". ") {
        *fetcher = None;
    }
    if words.is(index, FETCHER) {
        let before = index.saturating_sub(BACK)..index;
        let within = gap.ends_with("$(") || gap.ends_with("<(");
        if within && before.clone().any(|at| words.is(at, SHELL.or(EVALUATE))) {
            return Some(index);
        }
        *fetcher = fetcher.or(Some(index));
        return None;
    }
    let first = (*fetcher)?;
    // A Markdown table may name both in one row.
    if first + 1 >= index || words.gap(first + 1).contains('|') {
        return None;
    }
    let piped = |at: usize| {
        let gap = words.gap(at);
        gap.contains('|') && !gap.contains("||")
    };
    let to_shell = piped(index)
        || index.checked_sub(1).is_some_and(|last| words.is(last, PRIVILEGED) && piped(last));
    let runs =
        words.is(index, SHELL) || (words.is(index, INTERPRETER) && reads_program(words, index));
    let kept = gap.contains("&&") && words.is(index, SHELL.or(CHMOD));
    ((to_shell && runs) || kept).then_some(first)
}

/// Returns true if an interpreter, given the text after it, reads its program from the pipe.
fn reads_program(words: &ResultTokens<'_>, interpreter: usize) -> bool {
    let after = words.gap(interpreter + 1).trim_start();
    after.starts_with(['`', '"', '\'', ')', ';', '.', ',', '|', '&'])
        || after.starts_with("- ")
        || (interpreter + 1 >= words.len() && matches!(after, "" | "-"))
}
