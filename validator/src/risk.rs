//! The risk assessment: four lines that a person reads before approving. What they say is the
//! requester's own opinion and must never be taken for more.

use model::{SourceSpan, quote};

use crate::code::Code;
use crate::network::Network;
use crate::report::Report;
use crate::sections::Section;

/// The requester's own estimate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RiskLevel {
    /// `low`
    Low,
    /// `medium`
    Medium,
    /// `high`
    High,
}

impl RiskLevel {
    /// `low`, `medium` or `high`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// How sensitive the requester says the data is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sensitivity {
    /// `public`
    Public,
    /// `internal`
    Internal,
    /// `confidential`
    Confidential,
}

impl Sensitivity {
    /// `public`, `internal` or `confidential`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Internal => "internal",
            Self::Confidential => "confidential",
        }
    }
}

/// The section `## Risk Assessment` (seed 002, "4) Risk Assessment").
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Risk {
    level: RiskLevel,
    justification: String,
    sensitivity: Sensitivity,
    network_rationale: String,
}

impl Risk {
    /// The level that the text states; policy may hold it to be higher.
    #[must_use]
    pub fn level(&self) -> RiskLevel {
        self.level
    }

    /// Why the run is justified.
    #[must_use]
    pub fn justification(&self) -> &str {
        &self.justification
    }

    /// How sensitive the data is.
    #[must_use]
    pub fn sensitivity(&self) -> Sensitivity {
        self.sensitivity
    }

    /// Why a network is needed; may be empty where none is asked for.
    #[must_use]
    pub fn network_rationale(&self) -> &str {
        &self.network_rationale
    }

    pub(crate) fn read(
        section: &Section<'_>,
        network: Option<&Network>,
        report: &mut Report,
    ) -> Option<Self> {
        let found = answers(section, report);
        let [level, justification, sensitivity, rationale] = found;
        let level = choose(
            level,
            &[RiskLevel::Low, RiskLevel::Medium, RiskLevel::High].map(|it| (it.as_str(), it)),
            Code::RiskLevel,
            "Risk level",
            report,
        );
        let sensitivity = choose(
            sensitivity,
            &[Sensitivity::Public, Sensitivity::Internal, Sensitivity::Confidential]
                .map(|it| (it.as_str(), it)),
            Code::RiskSensitivity,
            "Data sensitivity",
            report,
        );
        let justification = justification.filter(|(text, spot)| {
            let given = !text.is_empty();
            if !given {
                let message = "`Justification:` is empty";
                report.error(Code::RiskJustification, *spot, message);
            }
            given
        });
        let rationale = rationale.filter(|(text, spot)| {
            let needed = matches!(network, Some(Network::Allowlist(_)));
            let given = !needed || !is_nothing(text);
            if !given {
                let message = "`Network rationale:` gives no reason, but a network is asked for";
                report.error(Code::RiskNetworkRationale, *spot, message);
            }
            given
        });
        Some(Self {
            level: level?,
            justification: justification?.0,
            sensitivity: sensitivity?,
            network_rationale: rationale?.0,
        })
    }
}

const KEYS: [&str; 4] = ["Risk level", "Justification", "Data sensitivity", "Network rationale"];

type Answer = Option<(String, SourceSpan)>;

/// The value of each key, with the lines that continue it; missing and doubled ones are reported.
fn answers(section: &Section<'_>, report: &mut Report) -> [Answer; 4] {
    let mut found: [Answer; 4] = [None, None, None, None];
    let mut current: Option<usize> = None;
    for line in &section.lines {
        let spot = SourceSpan::new(line.number, 1);
        if let Some((index, value)) = key_line(line.text) {
            current = Some(index);
            match found.get_mut(index) {
                Some(slot @ None) => *slot = Some((value.to_owned(), spot)),
                _ => {
                    current = None;
                    let key = KEYS.get(index).unwrap_or(&"");
                    let message = format!("`{key}:` appears twice");
                    report.error(CODES[index.min(3)], spot, message);
                }
            }
        } else if line.text.trim().is_empty() {
            current = None;
        } else if let Some(Some((value, _))) = current.and_then(|index| found.get_mut(index)) {
            if !value.is_empty() {
                value.push(' ');
            }
            value.push_str(line.text.trim());
        }
    }
    for (key, _) in KEYS.iter().zip(&found).filter(|(_, answer)| answer.is_none()) {
        let message = format!("`{key}:` the line is missing");
        let hint = format!("begin a line with `{key}:`");
        report.error_hint(Code::RiskMissing, section.spot, message, hint);
    }
    found
}

const CODES: [Code; 4] =
    [Code::RiskLevel, Code::RiskJustification, Code::RiskSensitivity, Code::RiskNetworkRationale];

/// Which key a line answers, and its value, without list mark, bold and backticks.
fn key_line(line: &str) -> Option<(usize, &str)> {
    let decoration = |c: char| "*_`".contains(c);
    let line = line.trim();
    let line =
        line.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with(' ')).unwrap_or(line);
    let line = line.trim_start().trim_start_matches(decoration);
    KEYS.iter().enumerate().find_map(|(index, key)| {
        let head = line.get(..key.len())?;
        let rest = line.get(key.len()..)?.trim_start_matches(decoration);
        let value = rest.strip_prefix(':').filter(|_| head.eq_ignore_ascii_case(key))?;
        Some((index, value.trim_matches(|c: char| decoration(c) || c.is_whitespace())))
    })
}

fn choose<T: Copy>(
    answer: Answer,
    values: &[(&str, T)],
    code: Code,
    key: &str,
    report: &mut Report,
) -> Option<T> {
    let (text, spot) = answer?;
    let chosen = values.iter().find(|(word, _)| text.eq_ignore_ascii_case(word));
    if chosen.is_none() {
        let words: Vec<&str> = values.iter().map(|(word, _)| *word).collect();
        let message = format!("`{key}:` {} is not one of {}", quote(&text), words.join(", "));
        report.error(code, spot, message);
    }
    chosen.map(|(_, value)| *value)
}

fn is_nothing(text: &str) -> bool {
    let text = text.trim_end_matches('.');
    ["", "none", "n/a", "-", "not applicable", "no network"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word))
}
