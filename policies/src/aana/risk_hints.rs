//! The risk that a tool's name and arguments reveal: a read that is less public than stated, or a
//! write of high risk. The check compares words, so it may be too strict. It must never take more
//! for harmless than upstream does.

use std::sync::LazyLock;

use regex::Regex;

use super::call::Call;
use super::vocabulary::{RiskDomain, ToolCategory};

/// Arguments that identify the person whose data is read.
const IDENTITIES: [&str; 22] = [
    "account_id",
    "account_key",
    "address",
    "card_id",
    "case_id",
    "client_id",
    "customer_id",
    "employee_id",
    "email",
    "invoice_id",
    "loan_id",
    "order_id",
    "patient_id",
    "payment_id",
    "payroll_id",
    "phone",
    "profile_id",
    "student_id",
    "subscription_id",
    "ticket_id",
    "transaction_id",
    "user_id",
];
/// Parts of names of tools that read personal data.
const PRIVATE: [&str; 13] = [
    "account",
    "booking",
    "cart",
    "client",
    "customer",
    "invoice",
    "order",
    "profile",
    "reservation",
    "subscription",
    "ticket",
    "transaction",
    "user",
];
/// Parts of names of tools whose effect is hard to undo.
const RISKY: [&str; 9] =
    ["delete", "deploy", "grant", "pay", "purchase", "reset", "revoke", "send", "transfer"];

/// Words of a search, whose results belong to no person. `None` if the expression cannot be built.
static SEARCHES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = "search|find|list|lookup|catalog|availability|opening hours|public";
    let edge = r"[^\p{L}\p{N}_]";
    Regex::new(&format!("(?:^|{edge})(?:{words})(?:$|{edge})")).ok()
});

/// Returns whether a read that is stated as public concerns a person.
pub(super) fn is_identity_bound(call: &Call<'_>) -> bool {
    if call.category != ToolCategory::PublicRead {
        return false;
    }
    if IDENTITIES.iter().any(|key| call.arguments.contains_key(*key)) {
        return true;
    }
    let name = call.tool_name.to_lowercase();
    let bound = PRIVATE.iter().any(|hint| name.contains(hint));
    bound && !has_word(&name, &["search", "list"]) && !searches(call)
}

/// Returns whether a write needs an explicit confirmation regardless of other evidence.
pub(super) fn is_high_risk(call: &Call<'_>) -> bool {
    let risky_domain = matches!(
        call.domain,
        RiskDomain::Finance
            | RiskDomain::Devops
            | RiskDomain::Security
            | RiskDomain::Legal
            | RiskDomain::Pharma
            | RiskDomain::Healthcare
    );
    let name = call.tool_name.to_lowercase();
    call.category == ToolCategory::Write
        && (risky_domain || RISKY.iter().any(|hint| name.contains(hint)))
}

fn has_word(name: &str, words: &[&str]) -> bool {
    name.split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit())
        .any(|part| words.contains(&part))
}

fn searches(call: &Call<'_>) -> bool {
    let mut text = format!("{}\n{}\n", call.tool_name, call.domain.as_str());
    text.push_str(call.user_intent);
    text.push('\n');
    text.push_str(&ascii_json(call));
    for reference in &call.references {
        for part in [reference.source_id, reference.kind.as_str(), reference.summary] {
            text.push('\n');
            text.push_str(part);
        }
    }
    SEARCHES.as_ref().is_some_and(|words| words.is_match(&text.to_lowercase()))
}

/// Returns the arguments in upstream's form: JSON in which every character outside printable ASCII
/// is `\uXXXX`. Its digits join the word after it.
fn ascii_json(call: &Call<'_>) -> String {
    let mut json = String::new();
    // Upstream replaces missing arguments by an empty object.
    for c in serde_json::to_string(call.arguments).unwrap_or_default().chars() {
        if (' '..='~').contains(&c) {
            json.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                json.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    json
}
