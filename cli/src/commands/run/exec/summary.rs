//! The summary of a one-off command, before the question.

use std::path::Path;

use validator::{Request, reveal_line};

use crate::commands::approve::review::{
    DeclaredInput, FoundInput, ReviewData, further_backend, word_text,
};
use crate::output::human;

pub(super) fn text(case: &ReviewData, out: &Path) -> String {
    let Some(preview) = &case.preview else { return String::new() };
    let request = preview.request();
    let words: Vec<String> = request.argv().iter().map(|word| word_text(word)).collect();
    let mut lines = vec![
        format!("command   {}", words.join(" ")),
        format!("inputs    {}", inputs(case)),
        format!("network   {}", hosts(request)),
        format!("limits    {}", limits(request)),
        format!("policy    {}", reveal_line(&case.rules.policy_text())),
        format!("artifacts /out, copied to {}", human::name(out)),
    ];
    if let Some(patch) = request.patch() {
        let (path, folder) = (reveal_line(patch.path), reveal_line(patch.folder));
        lines.push(format!("patch     {path}, the changes to {folder}/"));
    }
    if let Some(granted) = further_backend(preview.grant()) {
        lines.insert(1, format!("backend   {}, {}", reveal_line(&granted.name), granted.kind));
    }
    if let Some(environment) = request.environment() {
        lines.insert(1, format!("env       {environment}"));
    }
    lines.extend(case.violations.iter().map(|row| format!("warning   {}", human::message(row))));
    lines.join("\n")
}

fn inputs(case: &ReviewData) -> String {
    let input = |it: &DeclaredInput| {
        let size = it.found.as_ref().map_or("0 bytes".to_owned(), FoundInput::size);
        format!("{} ({size})", reveal_line(&it.name))
    };
    let inputs: Vec<String> = case.inputs.iter().map(input).collect();
    if inputs.is_empty() { "none".to_owned() } else { inputs.join(", ") }
}

fn limits(request: &Request) -> String {
    let (sec, mib) = (request.time_limit_sec(), request.memory_limit_mb());
    let cores = match request.cpu().as_milli() {
        1000 => "1 core".to_owned(),
        milli => format!("{} cores", f64::from(milli) / 1000.0),
    };
    format!("{sec} s, {mib} MiB, {cores}")
}

fn hosts(request: &Request) -> String {
    let hosts: Vec<String> = request.network().hosts().iter().map(ToString::to_string).collect();
    if hosts.is_empty() { "none".to_owned() } else { hosts.join(", ") }
}
