//! The cell: every layer of confinement that was read back from the kernel, and what the tool was denied.

use serde_json::Value;

use super::facts::{self, Facts};
use super::html::{Cell, Html, Tone, literal};

pub(super) fn section(page: &mut Html, facts: &Facts) {
    page.section(literal("Confinement"));
    let cell = facts.at("confinement");
    if cell.is_object() {
        layers(page, cell);
    } else {
        page.note(literal("There was no cell, or nobody knows what was in force."));
    }
    denials(page, facts.at("denials"));
    page.end();
}

fn layers(page: &mut Html, cell: &Value) {
    let namespaces: Vec<&str> =
        facts::rows(&cell["namespaces"]).iter().map(|row| facts::text(&row["kind"])).collect();
    let landlock = format!("ABI {}", facts::words(&cell["landlock"]["abi"]));
    let handled = facts::words(&cell["landlock"]["handled"]);
    let filters = facts::rows(&cell["seccomp"]["sha256"]).len();
    let no_capability = cell["capabilities"].as_object().is_some_and(|sets| {
        sets.values().all(|set| facts::text(set).chars().all(|digit| digit == '0'))
    });
    let capabilities = match no_capability {
        true => Cell::Word(Tone::Good, "none in any set".to_owned()),
        false => Cell::Word(Tone::Bad, facts::words(&cell["capabilities"])),
    };
    let degraded = match facts::rows(&cell["degraded"]) {
        [] => Cell::Word(Tone::Good, "nothing".to_owned()),
        _ => Cell::Word(Tone::Care, facts::words(&cell["degraded"])),
    };
    page.pairs(vec![
        (literal("Mode"), Cell::Text(facts::words(&cell["mode"]))),
        (literal("User id"), Cell::Code(facts::words(&cell["uid"]))),
        (literal("Groups"), Cell::Text(facts::words(&cell["groups"]))),
        (literal("Namespaces"), Cell::Text(namespaces.join(", "))),
        (literal("Landlock"), Cell::Text(landlock)),
        (literal("Landlock denies"), Cell::Text(handled)),
        (literal("Seccomp filters"), Cell::Text(filters.to_string())),
        (literal("Capabilities"), capabilities),
        (literal("No new privileges"), Cell::Text(facts::words(&cell["no_new_privs"]))),
        (literal("Mounts, SHA-256"), Cell::Code(facts::words(&cell["mounts_sha256"]))),
        (literal("Less than asked"), degraded),
    ]);
}

fn denials(page: &mut Html, denials: &Value) {
    if denials.as_str() == Some("unknown") {
        page.note(literal("What the tool was denied is unknown."));
        return;
    }
    if let Some(call) = denials["violation"].as_str() {
        page.markup(literal("<p>The run was ended for an attempt to leave the cell: "));
        page.code(call).markup(literal("</p>\n"));
    }
    let rows = facts::rows(&denials["calls"]).iter().map(|row| {
        vec![Cell::Code(facts::words(&row["name"])), Cell::Number(facts::words(&row["count"]))]
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        if denials.is_object() {
            page.note(literal("No system call was denied."));
        }
        return;
    }
    page.table(
        literal("System calls that were denied"),
        &[literal("Call"), literal("Times")],
        rows,
    );
}
