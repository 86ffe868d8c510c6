//! The section on contacted hosts and refused requests. Unknown must never be shown as none.

use serde_json::Value;

use super::facts::{self, PageFacts};
use super::html::{Html, TableCell, literal};

pub(super) fn section(page: &mut Html, facts: &PageFacts) {
    page.section(literal("Network"));
    let network = facts.at("network");
    match (facts.text("network_used"), network) {
        ("none", _) => {
            page.note(literal(
                "None was granted: the sandbox had only a loopback interface, which was down.",
            ));
        }
        (_, Value::Object(_)) => {
            page.markup(literal("<p>The proxy was confined by "));
            page.text(facts::text(&network["proxy_confined_by"])).markup(literal(".</p>\n"));
            contacts(page, network);
        }
        _ => {
            page.markup(literal("<p>The reached hosts are unknown. Granted: "));
            page.text(&facts::display(facts.at("network_destinations"))).markup(literal("</p>\n"));
        }
    }
    page.end();
}

fn contacts(page: &mut Html, network: &Value) {
    let hosts = facts::rows(&network["hosts"]).iter().map(|row| {
        vec![
            TableCell::Code(facts::display(&row["host"])),
            TableCell::Code(facts::display(&row["addresses"])),
            TableCell::Number(facts::display(&row["connections"])),
            TableCell::Number(facts::bytes(&row["bytes_out"])),
            TableCell::Number(facts::bytes(&row["bytes_in"])),
        ]
    });
    let columns = [
        literal("Host"),
        literal("Addresses"),
        literal("Connections"),
        literal("Out"),
        literal("In"),
    ];
    page.table(literal("Hosts"), &columns, hosts.collect());
    let refusals = facts::rows(&network["refusals"]).iter().map(|row| {
        vec![
            TableCell::Code(facts::display(&row["asked"])),
            TableCell::Text(facts::display(&row["reason"])),
            TableCell::Number(facts::display(&row["times"])),
        ]
    });
    let refusals: Vec<_> = refusals.collect();
    if !refusals.is_empty() {
        let columns = [literal("Requested"), literal("Reason"), literal("Times")];
        page.table(literal("Refused connections"), &columns, refusals);
    }
}
