//! The section on confinement: every layer read back from the kernel, and denied system calls.

use serde_json::Value;

use super::facts::{self, PageFacts};
use super::html::{Html, TableCell, Tone, literal};

const CAPABILITY_SETS: [&str; 5] = ["inheritable", "permitted", "effective", "bounding", "ambient"];

pub(super) fn section(page: &mut Html, facts: &PageFacts) {
    page.section(literal("Confinement"));
    let confinement = facts.at("confinement");
    if confinement.is_object() {
        layers(page, confinement);
    } else {
        page.note(literal("No sandbox was built, or its layers are unknown."));
    }
    denials(page, facts.at("denials"));
    page.end();
}

fn layers(page: &mut Html, confinement: &Value) {
    let namespaces: Vec<&str> = facts::rows(&confinement["namespaces"])
        .iter()
        .map(|row| facts::text(&row["kind"]))
        .collect();
    let landlock = format!("ABI {}", facts::display(&confinement["landlock"]["abi"]));
    let handled = facts::display(&confinement["landlock"]["handled"]);
    let filters = facts::rows(&confinement["seccomp"]["sha256"]).len();
    page.pairs(vec![
        (literal("Mode"), TableCell::Text(facts::display(&confinement["mode"]))),
        (literal("User id"), TableCell::Code(facts::display(&confinement["uid"]))),
        (literal("Groups"), TableCell::Text(facts::display(&confinement["groups"]))),
        (literal("Namespaces"), TableCell::Text(namespaces.join(", "))),
        (literal("Landlock"), TableCell::Text(landlock)),
        (literal("Landlock denies"), TableCell::Text(handled)),
        (literal("Seccomp filters"), TableCell::Text(filters.to_string())),
        (literal("Capabilities"), capabilities(&confinement["capabilities"])),
        (
            literal("No new privileges"),
            TableCell::Text(facts::display(&confinement["no_new_privs"])),
        ),
        (
            literal("Mounts, SHA-256"),
            TableCell::Code(facts::display(&confinement["mounts_sha256"])),
        ),
        (literal("Missing layers"), degraded(&confinement["degraded"])),
    ]);
}

/// Returns the text for a missing or unexpected fact, which must never be shown as good.
fn unknown() -> TableCell {
    TableCell::Badge(Tone::Care, "unknown".to_owned())
}

/// Returns good only if each set is present and empty.
fn capabilities(stated: &Value) -> TableCell {
    let Some(sets) = stated.as_object() else { return unknown() };
    let set = |name: &str| sets.get(name).and_then(Value::as_str).unwrap_or_default();
    let is_empty = |mask: &str| !mask.is_empty() && mask.bytes().all(|digit| digit == b'0');
    if CAPABILITY_SETS.iter().all(|name| is_empty(set(name))) && sets.len() == CAPABILITY_SETS.len()
    {
        return TableCell::Badge(Tone::Good, "none in any set".to_owned());
    }
    match sets.is_empty() {
        true => unknown(),
        false => TableCell::Badge(Tone::Bad, facts::display(stated)),
    }
}

fn degraded(stated: &Value) -> TableCell {
    match stated.as_array().map(Vec::as_slice) {
        None => unknown(),
        Some([]) => TableCell::Badge(Tone::Good, "none".to_owned()),
        Some(_) => TableCell::Badge(Tone::Care, facts::display(stated)),
    }
}

fn denials(page: &mut Html, denials: &Value) {
    if denials.as_str() == Some("unknown") {
        page.note(literal("The denials are unknown."));
        return;
    }
    if let Some(call) = denials["violation"].as_str() {
        page.markup(literal("<p>The run was ended because the tool tried to leave the sandbox: "));
        page.code(call).markup(literal("</p>\n"));
    }
    let rows = facts::rows(&denials["calls"]).iter().map(|row| {
        vec![
            TableCell::Code(facts::display(&row["name"])),
            TableCell::Number(facts::display(&row["count"])),
        ]
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        if denials["calls"].is_array() {
            page.note(literal("No system call was denied."));
        } else if denials.is_object() {
            page.note(literal("The denied system calls are unknown."));
        }
        return;
    }
    page.table(literal("Denied system calls"), &[literal("Call"), literal("Times")], rows);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(facts: Value) -> String {
        let mut page = Html::default();
        section(&mut page, &PageFacts::of(facts));
        page.into_string()
    }

    #[test]
    fn missing_facts_are_never_shown_as_good() {
        let none = json!({"inheritable": "0", "permitted": "0", "effective": "0000",
                          "bounding": "0", "ambient": "0"});
        let page_of = |capabilities: &Value, degraded: &Value| {
            shown(json!({"confinement": {"capabilities": capabilities, "degraded": degraded}}))
        };
        let good = "<span class=\"word good\">";
        assert_eq!(page_of(&none, &json!([])).matches(good).count(), 2);
        let without = |name: &str| {
            let mut sets = none.clone();
            sets.as_object_mut().unwrap().remove(name);
            sets
        };
        let with = |mask: Value| {
            let mut sets = none.clone();
            sets["effective"] = mask;
            sets
        };
        let unknown = "<span class=\"word care\">unknown";
        for capabilities in [json!({}), Value::Null, json!("unknown"), json!([])] {
            let page = page_of(&capabilities, &json!(["landlock"]));
            assert!(!page.contains(good) && page.contains(unknown), "{capabilities}: {page}");
        }
        for capabilities in [
            without("effective"),
            with(json!("")),
            with(json!("1")),
            with(json!(0)),
            with(json!({})),
        ] {
            let page = page_of(&capabilities, &Value::Null);
            assert!(!page.contains(good) && page.contains("word bad"), "{capabilities}: {page}");
        }
        for degraded in [Value::Null, json!("unknown"), json!({})] {
            let page = page_of(&with(json!("1")), &degraded);
            assert!(!page.contains(good) && page.contains(unknown), "{degraded}: {page}");
        }
        assert!(!shown(json!({"confinement": {}, "denials": {}})).contains("No system call"));
        assert!(shown(json!({"denials": {"calls": []}})).contains("No system call was denied"));
    }
}
