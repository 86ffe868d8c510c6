//! The head of the page: outcome, verification, and the request.

use std::path::Path;

use records::SkippedCheck;
use validator::{Draft, OwnerUid};

use super::facts::{self, PageFacts};
use super::html::{Html, TableCell, Tone, literal};
use super::model::VerificationState;

const REQUEST_BYTES_MAX: u64 = 1 << 20;

pub(super) fn outcome(page: &mut Html, facts: &PageFacts) {
    let outcome = facts.text("outcome");
    let tone = match outcome {
        "ok" => Tone::Good,
        "refused" | "cancelled" | "indeterminate" | "setup_error" => Tone::Care,
        _ => Tone::Bad,
    };
    page.markup(literal("<header>\n<p class=\"kind\">Tool result</p>\n<h1>"));
    page.text(facts.text("request_id")).markup(literal("</h1>\n<p class=\"outcome\">"));
    page.badge(tone, outcome).markup(literal(" <span>exit code "));
    page.text(&facts::display(facts.at("exit_code"))).markup(literal(", "));
    page.text(&facts::display(facts.at("runtime_sec"))).markup(literal(" s, "));
    page.text(facts.text("created_utc")).markup(literal("</span></p>\n"));
    if let Some(reason) = facts.at("reason").as_str() {
        page.markup(literal("<p class=\"reason\">")).text(reason).markup(literal("</p>\n"));
    }
    page.markup(literal("</header>\n"));
}

pub(super) fn verification(page: &mut Html, dir: &Path, verification_state: &VerificationState) {
    match verification_state {
        VerificationState::Verified(verified) => {
            page.banner(Tone::Good);
            page.markup(literal("<h2>Verified</h2>\n<p>Signed by "));
            page.text(verified.signer_principal()).markup(literal(" "));
            page.code(verified.signer_fingerprint()).markup(literal("; "));
            page.number(u64::try_from(verified.files_rehashed()).unwrap_or(u64::MAX));
            page.markup(literal(" files re-hashed, and every digest matches"));
            if let Some(place) = verified.log() {
                page.markup(literal("; entry ")).number(place.index).markup(literal(" of "));
                page.number(place.size).markup(literal(" in the log ")).code(&place.origin);
            }
            match verified.approvals_checked() {
                0 => {}
                count => {
                    page.markup(literal("; approvals checked: "));
                    page.number(u64::try_from(count).unwrap_or(u64::MAX));
                }
            }
            if let Some(within) = verified.standing_checked() {
                page.markup(literal("; ")).text(within);
            }
            page.markup(literal(".</p>\n"));
            not_checked(page, verified.skipped_checks());
        }
        VerificationState::Faulty(faults) => {
            page.banner(Tone::Bad);
            page.markup(literal(
                "<h2>NOT VERIFIED</h2>\n<p>Do not rely on anything below. Problems:</p>\n<ul>\n",
            ));
            for fault in faults.iter().take(50) {
                page.markup(literal("<li>")).text(&fault.to_string()).markup(literal("</li>\n"));
            }
            page.markup(literal("</ul>\n"));
        }
        VerificationState::NotVerified(why) => {
            page.banner(Tone::Care);
            page.markup(literal(
                "<h2>Not verified</h2>\n<p>This page shows what the record states: ",
            ));
            page.text(why).markup(literal("</p>\n"));
        }
    }
    page.markup(literal("<p class=\"note\">Directory: "));
    page.code(&dir.to_string_lossy()).markup(literal("</p>\n"));
    page.end();
}

fn not_checked(page: &mut Html, parts: &[SkippedCheck]) {
    if parts.is_empty() {
        return;
    }
    let parts: Vec<String> = parts.iter().map(SkippedCheck::to_string).collect();
    page.markup(literal("<p class=\"note\">Not checked: ")).text(&parts.join(", "));
    page.markup(literal("</p>\n"));
}

pub(super) fn summary(page: &mut Html, dir: &Path, facts: &PageFacts) {
    page.section(literal("Summary"));
    let argv: Vec<&str> = facts.rows("argv").iter().map(facts::text).collect();
    let text = |key: &str| TableCell::Text(facts::display(facts.at(key)));
    let policy = facts.at("policy");
    let policy =
        format!("{} {}", facts::display(&policy["name"]), facts::display(&policy["sha256"]));
    let mut pairs = Vec::new();
    if let Some(purpose) = purpose(dir, facts) {
        pairs.push((literal("Purpose"), TableCell::Text(purpose)));
    }
    pairs.extend([
        (literal("Command"), TableCell::Code(argv.join(" "))),
        (literal("Approval"), text("approval")),
        (literal("Policy"), TableCell::Code(policy)),
        (literal("Started"), text("started_utc")),
        (literal("Ended"), text("ended_utc")),
        (literal("Backend"), text("backend")),
        (literal("Executor"), text("executor_version")),
        (literal("Result"), TableCell::Code(facts.text("result_id").to_owned())),
    ]);
    if let Some(environment) = facts.at("environment").as_str() {
        pairs.push((literal("Environment"), TableCell::Code(environment.to_owned())));
    }
    for file in facts.at("backend_detail")["files"].as_array().into_iter().flatten() {
        let (role, sha256) = (facts::display(&file["role"]), facts::display(&file["sha256"]));
        pairs.push((literal("Backend file"), TableCell::Code(format!("{role} {sha256}"))));
    }
    let machine = &facts.at("backend_detail")["machine"];
    if machine.is_object() {
        let keys = ["accelerator", "root", "guest_memory_mb", "guest_kernel", "boot_ms", "tool_ms"];
        let rows = keys.map(|key| format!("{key} {}", facts::display(&machine[key])));
        pairs.push((literal("Guest"), TableCell::Text(rows.join(", "))));
    }
    if machine["accelerator"] == "tcg" {
        let text = "TCG is not a hypervisor boundary; count on the sandbox only";
        pairs.push((literal("Guest boundary"), TableCell::Text(text.to_owned())));
    }
    if facts.at("replay_of").is_object() {
        let of = facts::display(&facts.at("replay_of")["result_id"]);
        pairs.push((literal("Replay of"), TableCell::Code(of)));
    }
    page.pairs(pairs);
    approvals(page, facts);
    page.end();
}

fn approvals(page: &mut Html, facts: &PageFacts) {
    let rows = facts.rows("approvals");
    if rows.is_empty() {
        return;
    }
    let row = |row: &serde_json::Value| {
        let touch = match &row["touch"] {
            touch if touch.is_object() => {
                format!("user verified: {}", facts::display(&touch["user_verified"]))
            }
            _ => "–".to_owned(),
        };
        let cell = |key: &str| facts::display(&row[key]);
        vec![
            TableCell::Text(cell("principal")),
            TableCell::Code(cell("key")),
            TableCell::Text(touch),
        ]
    };
    let columns = [literal("Approver"), literal("Key"), literal("Security key")];
    page.table(literal("Approvals"), &columns, rows.iter().map(row).collect());
}

/// Returns the bytes of the request in the record, if they have the stated digest.
fn request_bytes(dir: &Path, facts: &PageFacts) -> Option<Vec<u8>> {
    let wanted = facts.text("request_sha256");
    let named = facts.rows("files").iter().find(|row| facts::text(&row["sha256"]) == wanted)?;
    let bytes =
        records::read_claimed(dir, facts::text(&named["path"]), REQUEST_BYTES_MAX).ok()??;
    (model::Sha256::of(&bytes).to_string() == wanted).then_some(bytes)
}

fn purpose(dir: &Path, facts: &PageFacts) -> Option<String> {
    let made = facts.text("created_utc").parse().ok()?;
    let name = facts.text("request_file");
    let draft = Draft::new(request_bytes(dir, facts)?, name, OwnerUid::new(0)).ok()?;
    Some(draft.read_recorded(made).ok()?.purpose().to_owned())
}

/// Adds the complete request as text.
pub(super) fn request(page: &mut Html, dir: &Path, facts: &PageFacts) {
    page.section(literal("Request"));
    match request_bytes(dir, facts) {
        Some(bytes) => {
            page.note(literal(
                "The approved request file, as text. Invisible characters are shown as \\u{…}.",
            ));
            page.markup(literal("<details>\n<summary>Show the request</summary>\n<pre>"));
            page.lines(&String::from_utf8_lossy(&bytes));
            page.markup(literal("</pre>\n</details>\n"));
        }
        None => {
            page.note(literal("The record does not contain the request, or contains other bytes."));
        }
    }
    page.end();
}
