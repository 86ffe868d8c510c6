//! The four lines of the risk assessment: the requester's opinion, never to be taken for more.

use model::{ClosedSet, SourceSpan, quote};

use crate::code::Code;
use crate::network::Network;
use crate::report::Report;
use crate::sections::Section;

model::closed_set! {
    /// The requester's own estimate.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum RiskLevel {
        /// `low`
        Low = "low",
        /// `medium`
        Medium = "medium",
        /// `high`
        High = "high",
    }
}

model::closed_set! {
    /// The sensitivity of the data, as the requester states it.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Sensitivity {
        /// `public`
        Public = "public",
        /// `internal`
        Internal = "internal",
        /// `confidential`
        Confidential = "confidential",
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
    /// The level that the text states; policy may raise it.
    #[must_use]
    pub fn level(&self) -> RiskLevel {
        self.level
    }

    /// The justification of the run.
    #[must_use]
    pub fn justification(&self) -> &str {
        &self.justification
    }

    /// The sensitivity of the data.
    #[must_use]
    pub fn sensitivity(&self) -> Sensitivity {
        self.sensitivity
    }

    /// The reason for a network; may be empty if no network is requested.
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
        let level: Option<RiskLevel> = choose(level, RiskKey::RiskLevel, report);
        let sensitivity: Option<Sensitivity> =
            choose(sensitivity, RiskKey::DataSensitivity, report);
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
            let given = !needed || !is_blank_rationale(text);
            if !given {
                let message = "`Network rationale:` gives no reason, but a network is requested";
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

model::closed_set! {
    /// The key of each line, in the order of the schema.
    enum RiskKey {
        RiskLevel = "Risk level",
        Justification = "Justification",
        DataSensitivity = "Data sensitivity",
        NetworkRationale = "Network rationale",
    }
}

impl RiskKey {
    fn code(self) -> Code {
        match self {
            Self::RiskLevel => Code::RiskLevel,
            Self::Justification => Code::RiskJustification,
            Self::DataSensitivity => Code::RiskSensitivity,
            Self::NetworkRationale => Code::RiskNetworkRationale,
        }
    }
}

type RiskAnswer = Option<(String, SourceSpan)>;

/// Returns the value of each key with continuation lines; reports missing and duplicate keys.
fn answers(section: &Section<'_>, report: &mut Report) -> [RiskAnswer; 4] {
    let mut found: [RiskAnswer; 4] = [None, None, None, None];
    let mut current: Option<usize> = None;
    for line in &section.lines {
        let spot = SourceSpan::new(line.number, 1);
        if let Some((index, key, value)) = key_line(line.text) {
            current = Some(index);
            match found.get_mut(index) {
                Some(slot @ None) => *slot = Some((value.to_owned(), spot)),
                _ => {
                    current = None;
                    let message = format!("`{key}:` appears twice");
                    report.error(key.code(), spot, message);
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
    for (key, _) in RiskKey::ALL.iter().zip(&found).filter(|(_, answer)| answer.is_none()) {
        let message = format!("`{key}:` the line is missing");
        let hint = format!("begin a line with `{key}:`");
        report.error_hint(Code::RiskMissing, section.spot, message, hint);
    }
    found
}

/// Returns the key of a line with its index and its value, without list mark, bold and backticks.
fn key_line(line: &str) -> Option<(usize, RiskKey, &str)> {
    let decoration = |c: char| "*_`".contains(c);
    let line = line.trim();
    let line =
        line.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with(' ')).unwrap_or(line);
    let line = line.trim_start().trim_start_matches(decoration);
    RiskKey::ALL.iter().enumerate().find_map(|(index, key)| {
        let name = key.as_str();
        let head = line.get(..name.len())?;
        let rest = line.get(name.len()..)?.trim_start_matches(decoration);
        let value = rest.strip_prefix(':').filter(|_| head.eq_ignore_ascii_case(name))?;
        Some((index, *key, value.trim_matches(|c: char| decoration(c) || c.is_whitespace())))
    })
}

fn choose<T: ClosedSet>(answer: RiskAnswer, key: RiskKey, report: &mut Report) -> Option<T> {
    let (text, spot) = answer?;
    let chosen = T::ALL.iter().find(|value| text.eq_ignore_ascii_case(value.as_str()));
    if chosen.is_none() {
        let message = format!("`{key}:` {} is not one of {}", quote(&text), T::TEXTS.join(", "));
        report.error(key.code(), spot, message);
    }
    chosen.copied()
}

fn is_blank_rationale(text: &str) -> bool {
    let text = text.trim_end_matches('.');
    ["", "none", "n/a", "-", "not applicable", "no network"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word))
}
