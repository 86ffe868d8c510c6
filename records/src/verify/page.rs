//! Checks of the Markdown below a record's front matter: its six sections, and each line of facts
//! alone. Text of a request, a policy or a tool is not compared, because the writing version
//! decided how much of it to show. No line of such text may be taken for a line of this program.

use model::ResultSection;
use serde_json::Value;

use crate::guest_node::machine_lines;
use crate::verify::inconsistency::number;
use crate::verify_error::VerifyError;

/// Returns the lines that contradict the facts.
pub(super) fn faults(file: &str, md: &[u8], facts: &Value) -> Vec<VerifyError> {
    let inconsistency = |what| VerifyError::Inconsistency { file: file.to_owned(), what };
    let text = std::str::from_utf8(md).unwrap_or_default();
    let body = text.split_once("\n---\n").map_or("", |(_, body)| body);
    let headings: Vec<&str> = body.lines().filter(|line| line.starts_with('#')).collect();
    let titles = headings.iter().filter_map(|heading| heading.strip_prefix("## "));
    let titles: Option<Vec<_>> = titles.map(ResultSection::named).collect();
    if headings.len() != ResultSection::ALL.len() || titles.as_deref() != Some(ResultSection::ALL) {
        let what = format!("its sections are {headings:?}");
        return vec![inconsistency(what)];
    }
    let wrong = |section: ResultSection| {
        let heading = section.heading();
        let lines = body.lines().skip_while(|line| *line != heading).skip(1);
        let lines: Vec<&str> = lines.take_while(|line| !line.starts_with('#')).collect();
        match section {
            ResultSection::Summary => summary_line(&lines, facts),
            ResultSection::Provenance => provenance_line(&lines, facts),
            ResultSection::Outputs => output_line(&lines, facts),
            ResultSection::Stdout => stream_line(&lines, "stdout", facts),
            ResultSection::Stderr => stream_line(&lines, "stderr", facts),
            ResultSection::SafetyNotes => None,
        }
    };
    ResultSection::ALL.iter().filter_map(|section| wrong(*section)).map(inconsistency).collect()
}

fn beginning<'a>(lines: &[&'a str], mark: &str) -> Vec<&'a str> {
    lines.iter().copied().filter(|line| line.starts_with(mark)).collect()
}

fn differs(found: &[&str], expected: &[String]) -> Option<String> {
    let expected_line = expected.iter().zip(found).find(|(a, b)| a != b).map(|(a, _)| a);
    let first = expected_line.or_else(|| expected.get(found.len()));
    match first {
        Some(line) => Some(format!("its text does not have `{line}`, which its facts state")),
        None => {
            let more = found.get(expected.len())?;
            Some(format!("its text has `{more}`, which its facts do not state"))
        }
    }
}

fn summary_line(lines: &[&str], facts: &Value) -> Option<String> {
    let (outcome, code) = (facts["outcome"].as_str()?, facts["exit_code"].as_i64()?);
    let detail = match outcome {
        "signal" => format!(" (signal {})", code - 128),
        _ => String::new(),
    };
    let kept = facts["artifacts"].as_array()?.len();
    let rows = [
        ("- Outcome: ", format!("{outcome}{detail}")),
        ("- Exit code: ", code.to_string()),
        ("- Outputs kept: ", kept.to_string()),
    ];
    rows.into_iter()
        .find_map(|(mark, value)| differs(&beginning(lines, mark), &[format!("{mark}{value}")]))
}

fn provenance_line(lines: &[&str], facts: &Value) -> Option<String> {
    let digest = format!("- Request sha256: {}", facts["request_sha256"].as_str()?);
    let started = match (facts["started_utc"].as_str(), facts["ended_utc"].as_str()) {
        (Some(started), Some(ended)) => vec![format!("- Started: {started}, ended: {ended}")],
        _ => Vec::new(),
    };
    // plain-english: quotation, of the record's format
    let limit = |row: &Value| {
        let (requested, in_force) = (number(&row["asked"])?, number(&row["in_force"])?);
        let (name, mechanism) = (row["name"].as_str()?, row["mechanism"].as_str()?);
        Some(format!("- Limit {name}: asked {requested}, in force {in_force} ({mechanism})"))
    };
    let limits: Option<Vec<String>> = facts["limits"].as_array()?.iter().map(limit).collect();
    differs(&beginning(lines, "- Request sha256: "), &[digest])
        .or_else(|| environment_line(lines, facts))
        .or_else(|| differs(&beginning(lines, "- Backend file: "), &backend_files(facts)))
        .or_else(|| differs(&beginning(lines, "- Guest"), &guest_lines(facts)))
        .or_else(|| differs(&beginning(lines, "- Started: "), &started))
        .or_else(|| differs(&beginning(lines, "- Limit "), &limits?))
}

/// Returns the lines for the files of the backend. The form of the facts was checked before.
fn backend_files(facts: &Value) -> Vec<String> {
    let rows = facts["backend_detail"]["files"].as_array().into_iter().flatten();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let line =
        |row| format!("- Backend file: {}, sha256 {}", text(row, "role"), text(row, "sha256"));
    rows.map(line).collect()
}

/// Returns the lines about the virtual machine; none if the run had none.
fn guest_lines(facts: &Value) -> Vec<String> {
    let machine = &facts["backend_detail"]["machine"];
    let (Some(accelerator), Some(root)) =
        (machine["accelerator"].as_str(), machine["root"].as_str())
    else {
        return Vec::new();
    };
    let numbers = ["guest_memory_mb", "time_ms_max", "start_ms_max"];
    let numbers = numbers.map(|key| number(&machine[key]).unwrap_or_default());
    machine_lines((accelerator, root), numbers)
}

/// Compares the digest. The name is text of the request.
fn environment_line(lines: &[&str], facts: &Value) -> Option<String> {
    let shown = beginning(lines, "- Environment: ");
    let stated = facts["environment"].as_str().and_then(|text| text.rsplit(':').next());
    let same = shown.len() == usize::from(stated.is_some())
        && shown.iter().zip(stated).all(|(line, hex)| line.ends_with(&format!(", sha256 {hex}")));
    (!same).then(|| "its text and its facts name different environments".to_owned())
}

/// Compares the digests in order. The form of paths depends on the version that wrote them.
fn output_line(lines: &[&str], facts: &Value) -> Option<String> {
    let kept = lines.iter().take_while(|line| **line != "Not here:");
    let shown: Vec<&&str> = kept.filter(|line| line.starts_with("- ")).collect();
    let rows = facts["artifacts"].as_array()?;
    let same = shown.len() == rows.len()
        && shown.iter().zip(rows).all(|(line, row)| {
            let sha256 = row["sha256"].as_str().unwrap_or_default();
            line.ends_with(&format!("  sha256: {sha256}"))
        });
    (!same).then(|| "its text and its facts name different artifacts".to_owned())
}

fn stream_line(lines: &[&str], name: &str, facts: &Value) -> Option<String> {
    let stream = &facts["streams"][name];
    let kept = number(&stream["kept_bytes"])?;
    let first = lines.iter().find(|line| !line.is_empty()).copied().unwrap_or_default();
    if kept == 0 {
        return differs(&[first], &["Nothing was kept.".to_owned()]);
    }
    let produced = number(&stream["produced_bytes"])?;
    let sha256 = facts[format!("{name}_sha256")].as_str()?;
    let expected = format!(
        "{kept} bytes kept of {produced} written; the whole of it is the file `{name}` beside this \
         record, sha256 {sha256}."
    );
    differs(&[first], &[expected])
}
