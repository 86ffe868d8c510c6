//! The review of a standing approval as text. `reveal_line` escapes all untrusted text.

use model::digest_words;
use validator::{StandingApproval, StandingTerms, reveal_line};

use super::data::StandingReview;
use super::{examples, terms_text, warnings};
use crate::commands::approve::review::ending;
use crate::commands::approve::review::human::{output_text, rules, word_text};
use crate::commands::approve::review::model::ReviewVerdict;
use crate::commands::approve::review::page::ReviewPage;
use crate::output::human;
use crate::output::screen::OutputScreen;

pub(super) fn text(case: &StandingReview, screen: OutputScreen) -> String {
    let mut page = ReviewPage(String::new());
    page.line(format_args!("{}", human::name(&case.path)));
    if let Some(standing) = &case.standing {
        let terms = standing.terms();
        page.line(format_args!("{}", reveal_line(&terms_text::summary(terms))));
        warnings::of(terms).iter().for_each(|warning| warn(&mut page, warning, screen));
    }
    rules(&mut page, &case.rules);
    if case.rules.origin.is_none() {
        page.row("", "evaluated for the host of x-audience; name another with --origin");
    }
    if let Some(standing) = &case.standing {
        identity(&mut page, case, standing);
        may_vary(&mut page, standing.terms());
        fixed(&mut page, standing.terms());
        example_commands(&mut page, standing);
        widest_effect(&mut page, standing);
    }
    end(&mut page, case, screen);
    page.0
}

fn warn(page: &mut ReviewPage, warning: &str, screen: OutputScreen) {
    let (red, plain) = if screen.colour { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
    page.line(format_args!("{red}WARNING: {}{plain}", reveal_line(warning)));
}

fn identity(page: &mut ReviewPage, case: &StandingReview, standing: &StandingApproval) {
    let terms = standing.terms();
    page.title("Standing approval");
    page.row("id", &terms.id);
    page.row("sha256", case.sha256());
    page.row("words", digest_words(&case.sha256()).join(" "));
    page.row("purpose", reveal_line(&terms.purpose));
    page.row("created", terms.created);
    let shown = |key, value: Option<String>| match value {
        Some(value) if !case.filled_on_approval.contains(&key) => value,
        _ => "not filled in".to_owned(),
    };
    page.row("approved_by", shown("approved_by", terms.approved_by.as_deref().map(reveal_line)));
    page.row("approved_utc", shown("approved_utc", terms.approved.map(|at| at.to_string())));
    for name in case.signature_files() {
        page.row("signature", reveal_line(&name));
    }
    if !case.rejection_files().is_empty() {
        let names = reveal_line(&case.rejection_files().join(", "));
        page.row("rejections", format_args!("{names}: a rejection, whether or not it counts here"));
    }
    if !case.is_filled() && !case.signatures.is_empty() {
        page.row("", "the signatures are of the text without its approval fields");
    }
}

fn may_vary(page: &mut ReviewPage, terms: &StandingTerms) {
    page.title("May vary");
    let rows = terms_text::may_vary(terms);
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    if rows.is_empty() {
        page.line(format_args!("  nothing"));
    }
    for (name, values) in &rows {
        page.line(format_args!("  {name:<width$}  {}", reveal_line(values)));
    }
}

fn fixed(page: &mut ReviewPage, terms: &StandingTerms) {
    page.title("Fixed: the command, word by word, without a shell");
    for (number, word) in (1..).zip(&terms.words) {
        page.line(format_args!("  {number:>3}  {}", word_text(&word.to_string())));
    }
    page.title("Fixed: inputs");
    for input in terms_text::fixed_inputs(terms) {
        page.line(format_args!("  /in/{}  {}", reveal_line(input.name()), input.sha256()));
    }
    if terms_text::fixed_inputs(terms).next().is_none() {
        page.line(format_args!("  none"));
    }
    page.title("Fixed: the language, and the most that a run may ask for");
    page.row("language", terms.language.as_str());
    if let Some(environment) = &terms.environment {
        page.row("environment", environment);
    }
    page.row("cores", terms.cpu);
    page.row("memory", format_args!("{} MiB", terms.memory_limit_mb));
    page.row("time", format_args!("{} s", terms.time_limit_sec));
    page.row("inputs", format_args!("{} bytes together", terms.inputs_bytes_max));
    page.row("network", terms.network.as_str());
    terms.network.hosts().iter().for_each(|host| page.row("host", host));
    page.row("risk", terms.risk.as_str());
    page.row("sensitivity", terms.sensitivity.as_str());
    page.title("Fixed: outputs and constraints");
    for output in &terms.outputs {
        page.line(format_args!("  /out/{}", output_text(output)));
    }
    for constraint in &terms.constraints {
        let note = if constraint.is_seed() { "" } else { "stated, not enforced: " };
        page.row("constraint", format_args!("{note}{}", reveal_line(constraint.text())));
    }
}

fn example_commands(page: &mut ReviewPage, standing: &StandingApproval) {
    page.title("Example commands");
    let found = examples::of(standing);
    if found.is_empty() {
        page.line(format_args!("  none: no command keeps every bound"));
    }
    found.iter().for_each(|command| page.line(format_args!("  {}", reveal_line(command))));
}

fn widest_effect(page: &mut ReviewPage, standing: &StandingApproval) {
    page.title("Widest effect");
    page.line(format_args!("  {}", reveal_line(&terms_text::widest_effect(standing.terms()))));
    page.title("Widest effect, in the author's words");
    let stated = terms_text::stated_effect(standing.bytes());
    stated.iter().for_each(|line| page.line(format_args!("  {}", reveal_line(line))));
}

fn end(page: &mut ReviewPage, case: &StandingReview, screen: OutputScreen) {
    ending::findings(page, case.shown(), &case.violations, screen);
    if let Err(why) = &case.filled
        && case.standing.is_some()
    {
        page.line(format_args!("  {}", records::split_reason(&why.to_string()).0));
    }
    ending::missing(page, &case.pending.iter().collect::<Vec<_>>());
    let verdict = match case.verdict() {
        ReviewVerdict::Ready => "ready: the daemon would admit it",
        ReviewVerdict::Pending => {
            "pending: the daemon would admit it once its approvals are complete"
        }
        ReviewVerdict::Refused => "REFUSED: no approval can change this",
    };
    ending::verdict(page, verdict, &case.violations);
}
