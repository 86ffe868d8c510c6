//! The words of a reference that deny an authority or leave it open. Words must never support a
//! state: a match only makes the result stricter. The lists are English and cannot be complete, so
//! a lift also requires an affirming word.

use super::call::Reference;
use super::vocabulary::EvidenceKind;

/// Whole words that deny.
const DENYING: [&str; 19] = [
    "no",
    "not",
    "never",
    "nor",
    "neither",
    "none",
    "nobody",
    "nothing",
    "without",
    "cannot",
    "pending",
    "yet",
    "invalid",
    "incomplete",
    "failed",
    "fails",
    "failure",
    "awaiting",
    "waiting",
];
/// Beginnings of words that deny.
const DENYING_STEMS: [&str; 21] = [
    "declin",
    "denied",
    "denies",
    "deny",
    "denial",
    "disallow",
    "disapprov",
    "forbid",
    "forbad",
    "laps",
    "overrul",
    "prohibit",
    "refus",
    "reject",
    "supersed",
    "unapprov",
    "unauthor",
    "unconfirm",
    "unsigned",
    "unverified",
    "veto",
];
/// Stems that deny unless they name the approved action: "confirmed the cancellation".
const UNDOING_STEMS: [&str; 11] = [
    "abort", "annul", "cancel", "expir", "rescind", "retract", "revoc", "revok", "void", "withdr",
    "withh",
];
/// Words that may occur between an approval and the approved action.
const ARTICLES: [&str; 8] = ["the", "this", "that", "a", "an", "to", "of", "exactly"];
/// Words that deny only in an approval. An authentication may report a missing approval.
const MISSING: [&str; 4] = ["missing", "absent", "lacks", "lacking"];
/// Stems of authority words. A sentence with one of them can deny an authority in any reference.
const AUTHORITIES: [&str; 6] =
    ["approv", "authoris", "authoriz", "confirm", "consent", "permission"];
/// Beginnings of words that leave the authority open.
const DOUBTING_STEMS: [&str; 28] = [
    "against",
    "ask",
    "back",
    "could",
    "down",
    "draft",
    "expect",
    "false",
    "forged",
    "if",
    "intend",
    "may",
    "might",
    "only",
    "outdat",
    "outstanding",
    "partial",
    "plan",
    "propos",
    "request",
    "requir",
    "should",
    "simulat",
    "turn",
    "unless",
    "until",
    "will",
    "would",
];
/// Beginnings of words that affirm the authority.
const AFFIRMING_STEMS: [&str; 10] = [
    "agreed",
    "approved",
    "authenticated",
    "authorised",
    "authorized",
    "confirmed",
    "consented",
    "granted",
    "permitted",
    "signed",
];

/// Returns whether the reference reports that an authority was refused, withdrawn or never given.
pub(super) fn denies_authority(reference: &Reference<'_>) -> bool {
    let mut sentences = reference.authority_text.split(['.', ',', ';', ':', '!', '?', '\n']);
    match reference.kind {
        EvidenceKind::Approval => sentences.any(|it| {
            sentence_denies(it) || words(it).any(|word| MISSING.contains(&word.as_str()))
        }),
        EvidenceKind::AuthEvent => sentences.any(sentence_denies),
        // A rule states prohibitions and denies nothing by that.
        EvidenceKind::Policy => false,
        _ => sentences
            .any(|it| words(it).any(|word| begins(&word, &AUTHORITIES)) && sentence_denies(it)),
    }
}

/// Returns whether the text denies a validation: "not eligible".
pub(super) fn denies_validation(reference: &Reference<'_>) -> bool {
    words(&reference.authority_text).any(|word| denies(&word) || word.starts_with("inelig"))
}

/// Returns whether the summary plainly affirms the authority. For an empty summary the typed fields
/// alone decide.
pub(super) fn affirms(reference: &Reference<'_>) -> bool {
    let summary = reference.summary_lower.as_str();
    let doubtful = |word: String| {
        denies(&word)
            || begins(&word, &UNDOING_STEMS)
            || begins(&word, &DOUBTING_STEMS)
            || MISSING.contains(&word.as_str())
    };
    let affirmed = words(summary).any(|word| begins(&word, &AFFIRMING_STEMS));
    summary.is_empty() || affirmed && !summary.contains('?') && !words(summary).any(doubtful)
}

/// Returns whether a name in a source could be read as a denial.
pub(super) fn name_denies(lower: &str) -> bool {
    let speaks = |word: String| {
        denies(&word) || begins(&word, &UNDOING_STEMS) || MISSING.contains(&word.as_str())
    };
    words(lower).any(speaks)
}

fn sentence_denies(sentence: &str) -> bool {
    let mut approves = false;
    for word in words(sentence) {
        let undone = word.ends_with("ed") || word.ends_with("wn") || word.ends_with("ew");
        if denies(&word) || begins(&word, &UNDOING_STEMS) && (undone || !approves) {
            return true;
        }
        let affirms = begins(&word, &AFFIRMING_STEMS);
        approves = affirms || approves && ARTICLES.contains(&word.as_str());
    }
    false
}

/// Returns the words of a text that is in lower case. Both apostrophes count as `'`.
fn words(text: &str) -> impl Iterator<Item = String> {
    let apart = |c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '\u{2019}'));
    let words = text.split(apart).filter(|word| !word.is_empty());
    words.map(|word| word.replace('\u{2019}', "'"))
}

fn denies(word: &str) -> bool {
    word.ends_with("n't") || DENYING.contains(&word) || begins(word, &DENYING_STEMS)
}

fn begins(word: &str, stems: &[&str]) -> bool {
    stems.iter().any(|stem| word.starts_with(stem))
}
