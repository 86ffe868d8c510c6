//! The section on files, with digests: inputs, collected artifacts, and files that were not kept.

use serde_json::Value;

use super::facts::{self, PageFacts};
use super::html::{Html, TableCell, Tone, literal};

pub(super) fn section(page: &mut Html, facts: &PageFacts) {
    page.section(literal("Files"));
    let code = |row: &Value, key: &str| TableCell::Code(facts::display(&row[key]));
    let inputs = facts.rows("inputs").iter();
    let inputs: Vec<_> = inputs.map(|row| vec![code(row, "name"), code(row, "sha256")]).collect();
    if inputs.is_empty() {
        page.note(literal("The tool had no input files."));
    } else {
        let columns = [literal("Name in /in"), literal("SHA-256")];
        page.table(literal("Inputs"), &columns, inputs);
    }
    let left = facts.rows("artifacts").iter().map(|row| {
        let declared = match row["declared"].as_bool() {
            Some(true) => TableCell::Badge(Tone::Plain, "expected".to_owned()),
            _ => TableCell::Badge(Tone::Care, "not expected".to_owned()),
        };
        let size = TableCell::Number(facts::bytes(&row["size_bytes"]));
        vec![code(row, "path"), size, code(row, "mode"), declared, code(row, "sha256")]
    });
    let left: Vec<_> = left.collect();
    if left.is_empty() {
        page.note(literal("No file was kept."));
    } else {
        let columns = [
            literal("Path in /out"),
            literal("Size"),
            literal("Mode"),
            literal("Request"),
            literal("SHA-256"),
        ];
        page.table(literal("Kept output files"), &columns, left);
    }
    not_kept(page, facts);
    page.end();
}

fn not_kept(page: &mut Html, facts: &PageFacts) {
    let rejected = facts.rows("rejected").iter().map(|row| {
        let reason = TableCell::Badge(Tone::Bad, facts::display(&row["reason"]));
        vec![TableCell::Code(facts::display(&row["path"])), reason]
    });
    let rejected: Vec<_> = rejected.collect();
    if !rejected.is_empty() {
        let columns = [literal("Path in /out"), literal("Reason")];
        page.table(literal("Rejected output files"), &columns, rejected);
    }
    let missing =
        facts.rows("missing").iter().map(|name| vec![TableCell::Code(facts::display(name))]);
    let missing: Vec<_> = missing.collect();
    if !missing.is_empty() {
        page.table(literal("Missing output files"), &[literal("Path in /out")], missing);
    }
    if facts.at("collection_complete").as_bool() == Some(false) {
        page.note(literal("Not all of /out was collected."));
    }
}
