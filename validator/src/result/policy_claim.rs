//! Finds claims against policy, not reports or negations of one. Must never leave the line.

use std::ops::Range;

use super::lexicon::{
    ACCESS, ADD, ALLOWED, APPLY, ARE, ARTICLE, BE, CHANGE, CHANGED, ENABLE, GRANT, GRANTEE, HAVE,
    INTO, LETS, LONGER, MODAL, NEGATION, NETWORK, NOW, POLICY, POLICY_WORD, REACH, RULES, TO, YOU,
};
use super::tokens::ResultTokens;

pub(super) fn find(words: &ResultTokens<'_>) -> Option<Range<usize>> {
    (0..words.len()).find_map(|index| {
        let ordered = policy_order(words, index).filter(|_| words.is_order(index));
        let last = ordered
            .or_else(|| policy_statement(words, index).filter(|_| words.is_asserted(index)))?;
        Some(words.range(index, last))
    })
}

fn policy_order(words: &ResultTokens<'_>, verb: usize) -> Option<usize> {
    if words.is(verb, CHANGE)
        && let Some(last) = change_policy(words, verb)
    {
        return Some(last);
    }
    if words.is(verb, ENABLE) {
        return enable_network(words, verb);
    }
    if words.is(verb, GRANT) {
        let over = ARTICLE.or(GRANTEE).or(REACH).or(TO);
        return words.skip(verb + 1, over, 5).filter(|&it| words.is(it, ACCESS));
    }
    if words.is(verb, ADD) { add_to_policy(words, verb) } else { None }
}

/// Matches `relax the network policy` or `ignore the rules`.
fn change_policy(words: &ResultTokens<'_>, verb: usize) -> Option<usize> {
    let object = words.skip(verb + 1, ARTICLE.or(POLICY_WORD), 4)?;
    // Programs have rules of many kinds; only with an article are these the reader's.
    let rules = words.is(object, RULES) && words.is(object - 1, ARTICLE.or(POLICY_WORD));
    (words.is(object, POLICY) || rules).then_some(object)
}

/// Matches `enable full network access`.
fn enable_network(words: &ResultTokens<'_>, verb: usize) -> Option<usize> {
    const BETWEEN_MAX: usize = 4;
    let on = |at: &usize| words.joined(*at) && words.is(*at, ARTICLE.or(REACH).or(NETWORK));
    (verb + 1..verb + 1 + BETWEEN_MAX).take_while(on).find(|&at| words.is(at, NETWORK))
}

/// Matches `add example.org to the allowlist`.
fn add_to_policy(words: &ResultTokens<'_>, verb: usize) -> Option<usize> {
    const OBJECT_MAX: usize = 6;
    let window = (verb + 2..verb + 2 + OBJECT_MAX).take_while(|&at| at < words.len());
    window.filter(|&at| words.is(at, INTO)).find_map(|into| {
        let object = words.skip(into + 1, ARTICLE.or(POLICY_WORD), 3)?;
        words.is(object, POLICY).then_some(object)
    })
}

fn policy_statement(words: &ResultTokens<'_>, index: usize) -> Option<usize> {
    if words.is(index, POLICY) {
        return should_change(words, index).or_else(|| applies_no_longer(words, index));
    }
    reader_released(words, index)
}

/// Matches `the policy should be changed`.
fn should_change(words: &ResultTokens<'_>, policy: usize) -> Option<usize> {
    let modal = words.skip(policy + 1, BE, 1).filter(|&it| words.is(it, MODAL))?;
    let verb = words.skip(modal + 1, BE.or(TO), 4)?;
    words.is(verb, CHANGED.or(LETS)).then_some(verb)
}

/// Matches `the restrictions no longer apply`.
fn applies_no_longer(words: &ResultTokens<'_>, policy: usize) -> Option<usize> {
    let says = |at: usize, kind| words.joined(at) && words.is(at, kind);
    let all = says(policy + 1, NEGATION) && says(policy + 2, LONGER) && says(policy + 3, APPLY);
    all.then_some(policy + 3)
}

/// Matches `you are now allowed to` or `you now have full access`.
fn reader_released(words: &ResultTokens<'_>, index: usize) -> Option<usize> {
    let says = |at: usize, kind| words.joined(at) && words.is(at, kind);
    let now = if words.is(index, YOU) {
        index + if says(index + 1, ARE) { 2 } else { 1 }
    } else if words.is(index, ARE) && words.text(index).len() > "are".len() {
        index + 1
    } else {
        return None;
    };
    if !says(now, NOW) {
        return None;
    }
    if says(now + 1, ALLOWED) && now > index + usize::from(words.is(index, YOU)) {
        return Some(now + 1);
    }
    let access = words.skip(now + 2, ARTICLE.or(REACH), 4).filter(|_| says(now + 1, HAVE))?;
    words.is(access, ACCESS).then_some(access)
}
