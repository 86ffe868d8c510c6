//! Searches for secrets with one automaton, and verifies each hit. It must stay linear in the text.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, MatchKind, StartKind};

use super::alphabet::{Alphabet, RunExtents};
use super::assignment::{self, NAMES, SecretNameKind};
use super::cloud::{self, AWS_SECRET};
use super::encoded::{self, EncodedKeyHint};
use super::format::{self, NEEDLES, SecretFormat};
use super::guess::{self, HINTS, SecretHint};
use super::kind::{SecretKind, TokenForm};
use super::service::{self, SERVICES, ServiceKeyForm};
use super::{code_host, language_model, messaging, office, payment};

pub(super) const PASSWORD: &str = "password";

/// The lengths of texts that are read in parts: a shorter one gains nothing, and the hits of a
/// longer one would take much memory.
const SPLIT: Range<usize> = 256..16 * 1024;

/// Enough to refuse a text and to show the positions, and a bound on the work for a hostile one.
const SECRETS_MAX: usize = 100;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FoundSecret {
    pub(crate) kind: &'static str,
    pub(crate) offset: usize,
    pub(crate) width: usize,
    /// The evidence: the issuer's form, the format around it, or only words.
    by: SecretEvidence,
    /// True if a checksum of the issuer confirms it.
    pub(super) sure: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum SecretEvidence {
    Form,
    Format,
    Words,
}

/// Returns every kind of secret; the codes are `secret.<name>`.
#[must_use]
pub fn secret_kinds() -> &'static [SecretKind] {
    static KINDS: LazyLock<Vec<SecretKind>> = LazyLock::new(|| {
        [
            format::KINDS,
            code_host::KINDS,
            cloud::KINDS,
            messaging::KINDS,
            payment::KINDS,
            language_model::KINDS,
            office::KINDS,
            service::KINDS,
            guess::KINDS,
            encoded::KINDS,
        ]
        .concat()
    });
    &KINDS
}

#[derive(Clone, Copy)]
enum Needle {
    Form(&'static str, &'static TokenForm),
    Format(SecretFormat),
    Name(SecretNameKind),
    Service(&'static [ServiceKeyForm]),
    Hint(SecretHint),
    Encoded(EncodedKeyHint),
}

/// The automaton, its start state, and the meanings of its patterns.
struct Scanner {
    automaton: DFA,
    start: StateID,
    needles: Vec<Needle>,
}

/// `None` only if there are too many words to build the automaton, which every test would detect.
static SCANNER: LazyLock<Option<Scanner>> = LazyLock::new(|| {
    let forms = secret_kinds().iter().flat_map(|kind| {
        kind.forms.iter().map(|shape| (shape.prefix, Needle::Form(kind.name, shape)))
    });
    let formats = NEEDLES.iter().map(|(word, format)| (*word, Needle::Format(*format)));
    let names = NAMES.iter().map(|(word, name)| (*word, Needle::Name(*name)));
    let services = SERVICES.iter().map(|(word, forms)| (*word, Needle::Service(forms)));
    let hints = HINTS.iter().map(|(word, hint)| (*word, Needle::Hint(*hint)));
    let encoded = encoded::NEEDLES.iter().map(|(word, it)| (*word, Needle::Encoded(*it)));
    let all = forms.chain(formats).chain(names).chain(services).chain(hints).chain(encoded);
    let (words, needles): (Vec<_>, Vec<_>) = all.unzip();
    let automaton = DFA::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .start_kind(StartKind::Unanchored)
        .prefilter(false)
        .build(words)
        .ok()?;
    let start = automaton.start_state(Anchored::No).ok()?;
    Some(Scanner { automaton, start, needles })
});

impl Scanner {
    /// Passes every needle with start and end to `take`, until that returns `ScanControl::Stop`.
    fn each(&self, text: &str, mut take: impl FnMut(Needle, usize, usize) -> ScanControl) {
        if SPLIT.contains(&text.len()) {
            for (state, end) in self.hits_by_parts(text.as_bytes()) {
                if self.pass(state, end, &mut take) == ScanControl::Stop {
                    return;
                }
            }
            return;
        }
        let mut state = self.start;
        for (end, byte) in (1..).zip(text.bytes()) {
            state = self.step(state, byte);
            if self.is_hit(state) && self.pass(state, end, &mut take) == ScanControl::Stop {
                return;
            }
        }
    }

    /// Passes the needles of a matching state to `take`.
    fn pass(
        &self,
        state: StateID,
        end: usize,
        take: &mut impl FnMut(Needle, usize, usize) -> ScanControl,
    ) -> ScanControl {
        for index in 0..self.automaton.match_len(state) {
            let pattern = self.automaton.match_pattern(state, index);
            let start = end - self.automaton.pattern_len(pattern);
            let needle = self.needles.get(pattern.as_usize());
            if needle.is_some_and(|needle| take(*needle, start, end) == ScanControl::Stop) {
                return ScanControl::Stop;
            }
        }
        ScanControl::Continue
    }

    fn step(&self, state: StateID, byte: u8) -> StateID {
        self.automaton.next_state(Anchored::No, state, byte)
    }

    fn is_hit(&self, state: StateID) -> bool {
        self.automaton.is_special(state) && self.automaton.is_match(state)
    }

    /// Returns the matching states with their ends, in order. Each step waits for memory and for
    /// the step before it, so four parts of the text are read at once.
    fn hits_by_parts(&self, bytes: &[u8]) -> Vec<(StateID, usize)> {
        let length = bytes.len() / 4;
        let (one, rest) = bytes.split_at(length);
        let (two, rest) = rest.split_at(length);
        let (three, four) = rest.split_at(length);
        let starts = [0, length, 2 * length, 3 * length];
        // A state depends on no more text than the longest needle has.
        let longest = self.automaton.max_pattern_len();
        let state_before = |at: usize| {
            let text = bytes.get(at.saturating_sub(longest)..at).unwrap_or_default();
            text.iter().fold(self.start, |state, byte| self.step(state, *byte))
        };
        let mut states = starts.map(state_before);
        let mut hits: [Vec<(StateID, usize)>; 4] = Default::default();
        for (at, (((one, two), three), four)) in
            one.iter().zip(two).zip(three).zip(four).enumerate()
        {
            let parts = [one, two, three, four].into_iter().zip(&mut states).zip(starts);
            for (((byte, state), start), hits) in parts.zip(&mut hits) {
                *state = self.step(*state, *byte);
                if self.is_hit(*state) {
                    hits.push((*state, start + at + 1));
                }
            }
        }
        let [_, _, _, mut state] = states;
        let mut hits = hits.concat();
        for (at, byte) in four.iter().enumerate().skip(length) {
            state = self.step(state, *byte);
            if self.is_hit(state) {
                hits.push((state, 3 * length + at + 1));
            }
        }
        hits
    }
}

#[derive(PartialEq, Eq)]
enum ScanControl {
    Stop,
    Continue,
}

/// Returns the secrets in a line, each kind once, certain ones first. Takes linear time.
pub(crate) fn find(line: &str) -> Vec<FoundSecret> {
    let mut kinds: Vec<FoundSecret> = Vec::new();
    for found in find_in_text(line) {
        if !kinds.iter().any(|known| known.kind == found.kind) {
            kinds.push(found);
        }
    }
    kinds.sort_by_key(|found| (found.by == SecretEvidence::Words, found.offset));
    kinds
}

/// Returns at most [`SECRETS_MAX`] secrets in order of position, in linear time. Secrets never
/// overlap; an issuer's form takes precedence over a name or header that contains it.
pub(crate) fn find_in_text(text: &str) -> Vec<FoundSecret> {
    let Some(scanner) = &*SCANNER else { return Vec::new() };
    let mut reach = RunExtents::over(text);
    let (mut certain, mut likely) = (Vec::new(), Vec::new());
    scanner.each(text, |needle, start, end| {
        if let Some(found) = verify(needle, text, start, end, &mut reach) {
            let found_by =
                if found.by == SecretEvidence::Words { &mut likely } else { &mut certain };
            // Many likely findings must not displace a certain one.
            if found_by.len() < SECRETS_MAX {
                found_by.push(found);
            }
        }
        if certain.len() < SECRETS_MAX { ScanControl::Continue } else { ScanControl::Stop }
    });
    let mut all = certain;
    all.append(&mut likely);
    if all.is_empty() {
        return all;
    }
    all.sort_by_key(|found: &FoundSecret| (found.by, found.offset));
    let mut kept: Vec<FoundSecret> = Vec::new();
    for found in all {
        let apart = |it: &FoundSecret| {
            it.offset + it.width <= found.offset || found.offset + found.width <= it.offset
        };
        if kept.iter().all(apart) {
            kept.push(found);
        }
    }
    kept.sort_by_key(|found| found.offset);
    kept
}

fn verify(
    needle: Needle,
    text: &str,
    start: usize,
    end: usize,
    reach: &mut RunExtents<'_>,
) -> Option<FoundSecret> {
    let found = |kind, start, end, by| {
        Some(FoundSecret { kind, offset: start, width: end - start, by, sure: false })
    };
    match needle {
        Needle::Form(kind, shape) => {
            let seen = shape.at(text, start, reach)?;
            let width = seen.end - seen.start;
            Some(FoundSecret {
                kind,
                offset: seen.start,
                width,
                by: SecretEvidence::Form,
                sure: seen.sure,
            })
        }
        Needle::Format(format) => {
            let (kind, start, end) = format.read(text, start, end, reach)?;
            let by = if matches!(format, SecretFormat::Jwt) {
                SecretEvidence::Form
            } else {
                SecretEvidence::Format
            };
            found(kind, start, end, by)
        }
        Needle::Name(name) => match assignment::value_of(text, start, end, name) {
            Some((named, value, at)) => {
                found(kind_of(text, end, value), named, at + value.len(), SecretEvidence::Format)
            }
            None => guess::after_name(text, start, end, name).and_then(|(_, value_end)| {
                found(guess::KIND, start, value_end, SecretEvidence::Words)
            }),
        },
        Needle::Service(forms) => service::key_after(text, end, forms, reach)
            .and_then(|(_, key_end)| found(service::KIND, start, key_end, SecretEvidence::Words)),
        Needle::Hint(hint) => guess::after_hint(text, start, end, hint)
            .and_then(|(_, value_end)| found(guess::KIND, start, value_end, SecretEvidence::Words)),
        Needle::Encoded(encoded) => {
            let holds_key =
                |text: &str| find_in_text(text).iter().any(|it| it.by != SecretEvidence::Words);
            let (start, end) = encoded.read(text, start, holds_key)?;
            found(encoded::KIND, start, end, SecretEvidence::Words)
        }
    }
}

/// Returns the kind of an assigned value. Only its name identifies an AWS secret key.
fn kind_of(text: &str, name_end: usize, value: &str) -> &'static str {
    const NAME_MAX: usize = 24;
    const LENGTH: usize = 40;
    let name = text.as_bytes().get(name_end.saturating_sub(NAME_MAX)..name_end).unwrap_or_default();
    let name: Vec<u8> = name.iter().filter(|b| b.is_ascii_alphabetic()).copied().collect();
    let named = name.to_ascii_lowercase().ends_with(b"secretaccesskey")
        || name.to_ascii_lowercase().ends_with(b"awssecretkey");
    let formed = value.len() == LENGTH && value.bytes().all(|b| Alphabet::Base64.contains(b));
    if named && formed { AWS_SECRET } else { PASSWORD }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{SCANNER, SPLIT};

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn the_parts_have_the_hits_of_the_whole(
            pieces in proptest::collection::vec((any::<proptest::sample::Index>(), "[ -~é]{0,40}"), 40..200),
        ) {
            let scanner = SCANNER.as_ref().unwrap();
            let words = crate::secrets::secret_kinds().iter().flat_map(|kind| kind.forms);
            let words: Vec<&str> = words.map(|form| form.prefix).collect();
            let text: String =
                pieces.iter().flat_map(|(word, noise)| [*word.get(&words), noise.as_str()]).collect();
            let text = text.as_bytes();
            prop_assume!(SPLIT.contains(&text.len()));
            let (mut state, mut whole) = (scanner.start, Vec::new());
            for (end, byte) in (1..).zip(text) {
                state = scanner.step(state, *byte);
                if scanner.is_hit(state) {
                    whole.push((state, end));
                }
            }
            prop_assert_eq!(scanner.hits_by_parts(text), whole);
        }
    }
}
