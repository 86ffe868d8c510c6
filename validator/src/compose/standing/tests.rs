//! A printed standing approval reads back as it was composed.

use model::Sha256;

use super::*;
use crate::standing::{StandingApproval, TextAlphabet};
use crate::{ApprovalRequirement, Code, Severity, fill_placeholder_approval, lint};

const NOW: &str = "2026-02-10T00:00:00Z";

fn line(text: &str) -> OneLine {
    text.parse().unwrap()
}

fn lines(texts: &[&str]) -> Vec<OneLine> {
    texts.iter().map(|text| line(text)).collect()
}

fn at(text: &str) -> UtcTime {
    text.parse().unwrap()
}

fn parameters() -> Vec<StandingParameter> {
    let choices = ["day", "week"].map(str::to_owned).to_vec();
    let text = ParameterKind::Text { alphabet: TextAlphabet::Date, chars_max: 10 };
    let kinds = [
        ("last", ParameterKind::Integer { min: -5, max: 3650 }),
        ("by", ParameterKind::Choice(choices)),
        ("from", text),
    ];
    kinds.map(|(name, kind)| StandingParameter { name: name.to_owned(), kind }).to_vec()
}

fn environment() -> EnvironmentReference {
    format!("charts@sha256:{}", Sha256::of(b"environment")).parse().unwrap()
}

fn output(path: &str, patch_of: Option<&str>) -> ComposedOutput {
    let patch_of = patch_of.map(str::to_owned);
    ComposedOutput { path: line(path), description: "it".into(), patch_of }
}

fn composition() -> StandingComposition {
    let words = ["python", "means.py", "/in/sales-1.csv", "7", "--by=day", "2026-02-09", "a b"];
    let longer = [words.as_slice(), &["more"]].concat();
    let example = |is_admitted, words: &[&str]| ComposedExample {
        is_admitted,
        words: lines(words),
        files: lines(&["sales-1.csv"]),
    };
    let written = ["python", "means.py", "{in:table}", "{last}", "--by={by}", "{from}", "a b"];
    StandingComposition {
        id: "SA-20260209-160501Z-means".parse().unwrap(),
        created: at("2026-02-09T16:05:01Z"),
        purpose: line("The \"mean\" of a table."),
        audience: line("desk-1"),
        agents: lines(&["core", "second"]),
        subject: None,
        not_before: at("2026-02-09T16:05:01Z"),
        not_after: at("2026-02-23T00:00:00Z"),
        uses_max: 200,
        uses_per_hour_max: 20,
        language: Language::Python,
        environment: Some(environment()),
        hosts: Some(lines(&["data.example:443"])),
        cpu: line("0.5"),
        memory_limit_mb: 512,
        time_limit_sec: 60,
        inputs_bytes_max: 9 << 20,
        runs_code_of_inputs: false,
        inputs: vec![ComposedInput { name: line("means.py"), sha256: Sha256::of(b"x") }],
        slots: vec![ComposedSlot {
            name: line("table"),
            files: line("sales-*.csv"),
            count: (1, 1),
            bytes_max: 8 << 20,
        }],
        parameters: parameters(),
        words: lines(&written),
        outputs: vec![output("mean.json", None)],
        constraints: lines(&crate::Constraint::SEED),
        risk: RiskLevel::Low,
        sensitivity: Sensitivity::Internal,
        examples: vec![example(true, &words), example(false, &longer)],
        effect: line("Any table of that name."),
    }
}

#[test]
fn a_printed_standing_approval_reads_back() {
    let (of, now) = (composition(), at(NOW));
    let (text, name) = (of.to_text(), format!("{}.md", of.id));
    let (_, rows) = lint(text.as_bytes(), &name, ApprovalRequirement::DraftOnly, now);
    assert!(rows.iter().all(|row| row.severity == Severity::Warning), "{rows:?}\n{text}");
    let filled = fill_placeholder_approval(text.as_bytes(), now).unwrap();
    let read = StandingApproval::read(&filled.bytes, &name, now).unwrap();
    let terms = read.terms();
    assert_eq!((&terms.parameters, terms.words.len()), (&of.parameters, of.words.len()));
    assert_eq!(terms.agents, ["core", "second"]);
    assert_eq!(terms.purpose, of.purpose.as_str());
    assert_eq!(terms.network.hosts().len(), 1);
    assert_eq!(terms.subject, None);
    assert_eq!(terms.environment, Some(environment()));
}

#[test]
fn without_an_environment_the_key_is_null_or_missing() {
    let (of, now) = (StandingComposition { environment: None, ..composition() }, at(NOW));
    let (text, name) = (of.to_text(), format!("{}.md", of.id));
    assert!(text.contains("\nenvironment: null\n"), "{text}");
    for text in [text.clone(), text.replace("environment: null\n", "")] {
        let (rows, read) = StandingApproval::read_draft(text.as_bytes(), &name, now);
        let read = read.unwrap_or_else(|| panic!("{rows:?}\n{text}"));
        assert_eq!(read.terms().environment, None);
    }
}

#[test]
fn an_environment_without_its_digest_is_refused() {
    let (of, now) = (StandingComposition { environment: None, ..composition() }, at(NOW));
    let name = format!("{}.md", of.id);
    let digest = Sha256::of(b"x").to_string();
    let short = format!("charts@sha256:{}", &digest[..12]);
    let capital = format!("Charts@sha256:{digest}");
    for value in ["charts", &short, &capital, "\"\""] {
        let line = format!("environment: {value}\n");
        let text = of.to_text().replace("environment: null\n", &line);
        let (rows, read) = StandingApproval::read_draft(text.as_bytes(), &name, now);
        assert!(read.is_none(), "{value}");
        let row = rows.iter().find(|row| row.severity == Severity::Error).unwrap();
        assert_eq!(row.code, Code::FrontmatterValue, "{value}");
        assert!(row.message.starts_with("`environment`: "), "{row:?}");
    }
}

/// A slot has files only, so a patch is always of a fixed folder.
#[test]
fn a_patch_is_of_a_fixed_folder() {
    let now = at(NOW);
    let mut of = composition();
    of.inputs.push(ComposedInput { name: line("repo/"), sha256: Sha256::of(b"tree") });
    let name = format!("{}.md", of.id);
    for (folder, is_read) in [("repo/", true), ("other/", false), ("means.py/", false)] {
        of.outputs = vec![output("changes.patch", Some(folder)), output("mean.json", None)];
        let text = of.to_text();
        let (rows, read) = StandingApproval::read_draft(text.as_bytes(), &name, now);
        assert_eq!(read.is_some(), is_read, "{folder}: {rows:?}\n{text}");
        match read {
            Some(read) => {
                let patches: Vec<_> = read.terms().outputs.iter().map(|it| it.patch_of()).collect();
                assert_eq!(patches, [Some("repo/"), None]);
            }
            None => assert!(rows.iter().any(|row| row.code == Code::OutputsPatch), "{rows:?}"),
        }
    }
}
