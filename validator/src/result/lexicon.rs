//! The words of the rules about instructions and claims. The lookup must ignore case.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::sync::LazyLock;

use model::Language;

#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct WordMeanings(u64);

impl WordMeanings {
    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns true if the two sets intersect.
    pub(super) fn any(self, of: Self) -> bool {
        self.0 & of.0 != 0
    }
}

macro_rules! lexicon {
    ($($bit:literal $kind:ident $words:literal;)*) => {
        $(pub(super) const $kind: WordMeanings = WordMeanings(1 << $bit);)*
        const LEXICON: &[(WordMeanings, &str)] = &[$(($kind, $words),)*];
    };
}

// plain-english: quotation, of the texts that are searched
lexicon! {
    0 RUN "run execute launch exec";
    1 PUT_IN "paste enter type copy";
    2 FETCH "download fetch retrieve curl wget";
    3 FETCHER "curl wget iwr irm invoke-webrequest";
    4 SHELL "sh bash zsh dash ksh ash fish iex pwsh powershell cmd";
    5 INTERPRETER "perl php";
    6 START "run execute launch install start";
    7 FORGET "ignore disregard forget override overrule";
    8 EARLIER "previous prior above earlier preceding former foregoing original existing system";
    9 ORDERS "instruction instructions prompt prompts direction directions directives guidelines \
             constraints safeguards orders guardrails";
    10 LOOSE_ORDERS "rules rule commands command messages context text input everything";
    11 ARTICLE "all any the your every of my these those this its our that a an both each";
    12 FOLLOWING "following below";
    13 CODE "command commands script scripts code snippet lines line program binary payload steps";
    14 THIS "this these";
    15 COMMAND_NAME "sudo curl wget bash sh zsh python python3 pip pip3 pipx npm npx apt apt-get \
             yum dnf brew chmod chown rm docker kubectl powershell pwsh perl ruby ssh scp nc ncat \
             systemctl crontab";
    16 DIRECTIVE "please now then must should shall just immediately simply kindly always and or \
             so instead also first next finally";
    17 NEED "need needs have has required sure want remember";
    18 TO "to";
    19 NEGATION "not never no without don't don’t doesn't doesn’t didn't didn’t cannot can't can’t \
             couldn't couldn’t won't won’t mustn't mustn’t shouldn't shouldn’t avoid nor neither \
             nobody nothing unable";
    20 REPORT "asked asks requested requests told tells instructed instructs said says claimed \
             claims contained contains included includes reads printed prints wrote writes \
             attempted attempts tried tries wanted wants suggested suggests demanded demands urged \
             urges prompted proposed proposes mentions mentioned reported reports quoted quotes \
             ordered directed injected found detected";
    21 NOT_REPORTED "you i we as are is be";
    22 PLEASE "please";
    23 YOU "you";
    24 MUST "must shall";
    25 AND "and then";
    26 URL_SCHEME "http https ftp";
    27 CHANGE "update change modify relax disable bypass ignore override edit loosen weaken remove \
             suspend circumvent lift rewrite deactivate amend disregard widen evade";
    28 POLICY "policy policies allowlist allow-list whitelist sandbox sandboxing validator \
             validators confinement seccomp landlock guardrails safeguards restrictions";
    29 RULES "rules";
    30 POLICY_WORD "security network execution system current tool tool-exec toolexec safety \
             existing egress threegate";
    31 MODAL "should must needs need has have ought shall";
    32 CHANGED "changed updated modified relaxed disabled bypassed ignored overridden removed \
             extended loosened lifted amended rewritten edited suspended widened weakened \
             deactivated";
    33 LETS "allow permit include";
    34 BE "be also now immediately therefore";
    35 ARE "are you're you’re";
    36 NOW "now hereby henceforth";
    37 ALLOWED "allowed permitted authorized authorised cleared entitled free";
    38 HAVE "have";
    39 ACCESS "permission permissions access authority authorization authorisation";
    40 ENABLE "enable activate allow unblock open";
    41 NETWORK "network networking internet";
    42 REACH "full outbound external unrestricted root admin write read execute additional more \
             elevated core temporary internet network direct";
    43 GRANT "grant";
    44 GRANTEE "me us it tool process user users agent them yourself itself assistant model";
    45 ADD "add put include append insert";
    46 INTO "to in into on onto";
    47 LONGER "longer";
    48 APPLY "apply applies";
    49 ROLE "system assistant developer user human";
    50 ADDRESS "you ignore disregard forget override execute run please";
    51 CHMOD "chmod";
    52 EVALUATE "eval source";
    53 PRIVILEGED "sudo env doas";
    54 PREPOSITION "with in as on from to and or is for without using inside at again under \
             command commands before after against over";
}

/// The keys are words of this file, so an attacker cannot choose colliding ones.
type Lexicon = HashMap<&'static str, WordMeanings, BuildHasherDefault<DefaultHasher>>;

static KINDS: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut kinds = Lexicon::default();
    for (kind, words) in LEXICON {
        for word in words.split_whitespace() {
            let known = kinds.entry(word).or_default();
            *known = known.or(*kind);
        }
    }
    // The interpreters come from the registry of languages.
    for name in Language::ALL.iter().flat_map(|language| language.runtime().piped_names) {
        let known = kinds.entry(name).or_default();
        *known = known.or(INTERPRETER);
    }
    kinds
});

/// The maximum length of a word in the lexicon, in bytes.
const WORD_BYTES_MAX: usize = 20;

/// Returns the meanings of a word; most words have none.
pub(super) fn meanings_of(word: &str) -> WordMeanings {
    let mut buffer = [0; WORD_BYTES_MAX];
    let Some(lower) = buffer.get_mut(..word.len()) else { return WordMeanings::default() };
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    let lower = std::str::from_utf8(lower).unwrap_or("");
    KINDS.get(lower).copied().unwrap_or_default()
}
