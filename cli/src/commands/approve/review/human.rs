//! The review as text. `reveal_line` escapes all untrusted text. Problems are repeated at the end.

use model::digest_words;
use policies::{DecisionPreview, ExpectedVerdict};
use sandbox::plan::Plan;
use validator::{ExpectedOutput, Request, Work, reveal_line};

use super::data::ReviewData;
use super::model::{InputTexts, ReviewVerdict};
use super::page::ReviewPage;
use super::rules::HostRules;
use super::{backend, ending, environment, listing};
use crate::output::human;
use crate::output::screen::OutputScreen;

pub(super) fn text(case: &ReviewData, texts: InputTexts, screen: OutputScreen) -> String {
    let mut page = ReviewPage(String::new());
    page.line(format_args!("{}", human::name(&case.path)));
    rules(&mut page, &case.rules);
    if let Some(preview) = &case.preview {
        let request = preview.request();
        request_section(&mut page, case, preview);
        command(&mut page, request, case.plan.as_ref().ok());
        if let Some(granted) = backend::further(preview.grant()) {
            backend::print(&mut page, granted);
        }
        if let Some(environment) = &case.environment {
            environment.print(&mut page);
        }
        files(&mut page, case, request);
        limits(&mut page, case, request);
        environment_section(&mut page, &case.plan);
        decision(&mut page, preview);
        if texts != InputTexts::None {
            case.inputs.iter().for_each(|seen| listing::text(&mut page, seen, request, texts));
        }
    }
    end(&mut page, case, screen);
    page.0
}

pub(super) fn rules(page: &mut ReviewPage, rules: &HostRules) {
    page.row("policy", format_args!("{}", reveal_line(&rules.policy_text())));
    let file = |file: &Option<std::path::PathBuf>| match file {
        Some(file) => human::name(file),
        None => "none".to_owned(),
    };
    page.row("signers", file(&rules.signers_file));
    page.row("revoked", file(&rules.revoked_file));
    page.row("host", rules.origin.as_deref().map_or("not named".to_owned(), reveal_line));
}

fn request_section(page: &mut ReviewPage, case: &ReviewData, preview: &DecisionPreview) {
    let request = preview.request();
    page.title("Request");
    page.row("id", request.id());
    page.row("sha256", case.sha256());
    page.row("words", digest_words(&case.sha256()).join(" "));
    page.row("intent", request.intent_sha256());
    page.row("purpose", reveal_line(request.purpose()));
    page.row("created", request.created());
    let requester = request.requester().map_or("not named".to_owned(), reveal_line);
    let written = request.requested_by().as_str();
    page.row("requester", format_args!("{requester}; written by {written}"));
    if let Some(agent) = request.agent() {
        let (name, subject) = (reveal_line(agent.name()), reveal_line(agent.subject()));
        page.row("agent", format_args!("{name}, subject {subject}"));
    }
    page.row("audience", request.audience().map_or("any host".to_owned(), reveal_line));
    let filled_on_approval = |key| case.filled_on_approval.contains(&key);
    let by = reveal_line(request.approved_by());
    let shown = |key, value: String| {
        if filled_on_approval(key) { "not filled in".to_owned() } else { value }
    };
    page.row("approved_by", shown("approved_by", by));
    page.row("approved_utc", shown("approved_utc", request.approved().to_string()));
    page.title("Risk");
    let risk = request.risk();
    page.row("class", reveal_line(preview.class_reason()));
    page.row("stated", risk.level().as_str());
    page.row("reason", reveal_line(risk.justification()));
    page.row("sensitivity", risk.sensitivity().as_str());
    let (signers, min) = (preview.signers(), preview.signatures_min());
    page.row("signatures", format_args!("{signers} of {min} approvers"));
    for (principal, fingerprint) in preview.signed() {
        page.row("", format_args!("{} {fingerprint}", reveal_line(principal)));
    }
    if !case.rejection_files.is_empty() {
        let names = reveal_line(&case.rejection_files.join(", "));
        page.row("rejections", format_args!("{names}: a rejection, whether or not it counts here"));
    }
    if !case.is_filled() && !case.signature_files.is_empty() {
        let names = reveal_line(&case.signature_files.join(", "));
        let why = "signs the request without its approval fields, not what will be approved";
        page.row("", format_args!("{names}: {why}"));
    }
}

fn command(page: &mut ReviewPage, request: &Request, plan: Option<&Plan>) {
    page.title("Command, word by word, without a shell");
    if let Work::Code(code) = request.work() {
        code.text().lines().for_each(|line| page.line(format_args!("  {}", reveal_line(line))));
    }
    for (index, word) in (1..).zip(request.argv()) {
        page.line(format_args!("  {index:>3}  {}", word_text(word)));
    }
    let Some(plan) = plan else { return };
    page.title("Executed as");
    page.row("program", human::name(&plan.sandbox.runtime.binary));
    for (index, word) in (1..).zip(&plan.exec.argv) {
        page.line(format_args!("  {index:>3}  {}", word_text(word)));
    }
}

/// Quotes a word that contains blanks or is empty.
pub(crate) fn word_text(word: &str) -> String {
    let shown = reveal_line(word).replace('\t', "\\t").replace('\n', "\\n");
    let plain = !shown.is_empty() && !shown.contains([' ', '"']);
    if plain { shown } else { format!("\"{}\"", shown.replace('"', "\\\"")) }
}

fn files(page: &mut ReviewPage, case: &ReviewData, request: &Request) {
    page.title("Inputs");
    if case.inputs.is_empty() {
        page.line(format_args!("  none"));
    }
    for seen in &case.inputs {
        let name = reveal_line(&seen.name);
        match &seen.found {
            Ok(found) if found.sha256() == seen.declared => {
                page.line(format_args!("  /in/{name}  {}  {}", found.size(), found.sha256()));
            }
            Ok(found) => {
                page.line(format_args!("  /in/{name}  {}  DIGEST DIFFERS", found.size()));
                page.line(format_args!("      found     {}", found.sha256()));
                page.line(format_args!("      declared  {}", seen.declared));
            }
            Err(why) => page.line(format_args!("  /in/{name}  {}", human::message(why))),
        }
    }
    page.title("Expected outputs");
    if request.outputs_expected().is_empty() {
        page.line(format_args!("  none"));
    }
    for output in request.outputs_expected() {
        page.line(format_args!("  /out/{}", output_text(output)));
    }
}

/// Returns the path of an output below /out, for a patch its folder, and the author's words.
pub(super) fn output_text(output: &ExpectedOutput) -> String {
    let (path, what) = (reveal_line(output.path()), reveal_line(output.description()));
    match output.patch_of() {
        None => format!("{path}  {what}"),
        Some(folder) => format!("{path}: the changes to {}; {what}", reveal_line(folder)),
    }
}

fn limits(page: &mut ReviewPage, case: &ReviewData, request: &Request) {
    let most = case.rules.policy.ceilings();
    page.title("Requested limits, and the policy's maximum");
    let cores = |milli: u64| format!("{}.{:03}", milli / 1000, milli % 1000);
    let requested = cores(u64::from(request.cpu().as_milli()));
    page.row("cores", format_args!("{requested} of {}", cores(most.cpu_milli)));
    page.row("memory", format_args!("{} of {} MiB", request.memory_limit_mb(), most.memory_mb));
    page.row("time", format_args!("{} of {} s", request.time_limit_sec(), most.time_sec));
    page.title("Hosts");
    if request.network().hosts().is_empty() {
        page.line(format_args!("  none"));
    } else {
        request.network().hosts().iter().for_each(|host| page.line(format_args!("  {host}")));
        page.row("rationale", reveal_line(request.risk().network_rationale()));
    }
    let stated = request.constraints().iter().filter(|it| !it.is_seed());
    for constraint in stated {
        page.row(
            "constraint",
            format_args!("stated, not enforced: {}", reveal_line(constraint.text())),
        );
    }
}

fn environment_section(page: &mut ReviewPage, plan: &Result<Plan, String>) {
    page.title("Sandbox");
    let plan = match plan {
        Ok(plan) => plan,
        Err(why) => return page.line(format_args!("  none: {}", reveal_line(why))),
    };
    for place in environment::paths(plan) {
        let how = if place.writable { "read, write" } else { "read" };
        page.line(format_args!(
            "  {}  ({how}) {}",
            reveal_line(&place.path),
            reveal_line(&place.content)
        ));
    }
    page.row("network", environment::network(plan));
    page.row("directory", environment::working_directory(plan));
    for (name, value) in &plan.exec.env {
        page.line(format_args!("  {}={}", reveal_line(name), reveal_line(value)));
    }
    for (name, value) in plan.exec.limits.entries() {
        page.line(format_args!("  {name:<20}{value}"));
    }
}

fn decision(page: &mut ReviewPage, preview: &DecisionPreview) {
    page.title("Rules");
    for (row, prospect) in preview.rules() {
        let is = |verdict| *prospect == ExpectedVerdict::Final(verdict);
        let word = if is(policies::Verdict::Refuse) {
            "REFUSED"
        } else if is(policies::Verdict::NotApplicable) {
            "-"
        } else {
            prospect.as_str()
        };
        page.line(format_args!("  {word:<8} {:<20} {}", row.rule, reveal_line(&row.reason)));
    }
}

fn end(page: &mut ReviewPage, case: &ReviewData, screen: OutputScreen) {
    ending::findings(page, case.shown(), &case.violations, screen);
    if let Err(why) = &case.filled
        && case.preview.is_some()
    {
        page.line(format_args!("  {}", records::split_reason(&why.to_string()).0));
    }
    ending::missing(page, &case.pending());
    let verdict = match case.outcome() {
        ReviewVerdict::Ready => "ready: it would run",
        ReviewVerdict::Pending => "pending: it would run once its approvals are complete",
        ReviewVerdict::Refused => "REFUSED: no approval can change this",
    };
    ending::verdict(page, verdict, &case.violations);
}
