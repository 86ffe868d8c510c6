//! The words and inputs of a request, and which of them may vary. A literal word must never become
//! a parameter by its characters.

use validator::{ComposedInput, ComposedSlot, OneLine, StandingParameter, reveal_line};

use super::args::StandingDraftCommand;
use super::options::TemplateParameterOption;
use crate::commands::approve::standing::error::StandingCommandError;

/// The parts of a standing approval that come from the words and inputs of a request.
pub(super) struct StandingTemplate {
    /// The lines of `## Command`.
    pub(super) words: Vec<OneLine>,
    /// The fixed inputs.
    pub(super) inputs: Vec<ComposedInput>,
    pub(super) slots: Vec<ComposedSlot>,
    pub(super) parameters: Vec<StandingParameter>,
    /// The request's files in the slots.
    pub(super) files: Vec<OneLine>,
    /// The numbers of literal words that name a file of a slot, each with the name.
    pub(super) literal_files: Vec<(usize, OneLine)>,
}

impl StandingTemplate {
    pub(super) fn of(
        args: &StandingDraftCommand,
        argv: &[OneLine],
        inputs: Vec<ComposedInput>,
    ) -> Result<Self, StandingCommandError> {
        check_numbers(&args.parameters, argv.len())?;
        let mut template = Self {
            words: Vec::new(),
            inputs,
            slots: Vec::new(),
            parameters: args.parameters.iter().map(parameter).collect(),
            files: Vec::new(),
            literal_files: Vec::new(),
        };
        let only_files = template.fill_slots(args)?;
        for (number, word) in (1..).zip(argv) {
            let chosen = args.parameters.iter().find(|option| option.words.contains(&number));
            let line = match chosen {
                Some(option) => parameter_word(option, number, word.as_str())?,
                None => template.other_word(&only_files, number, word.as_str())?,
            };
            template.words.push(to_line(number, &line)?);
        }
        Ok(template)
    }

    /// Moves the inputs of each slot out of the fixed ones. Returns each file that is alone in its
    /// slot, with the name of the slot.
    fn fill_slots(
        &mut self,
        args: &StandingDraftCommand,
    ) -> Result<Vec<(OneLine, OneLine)>, StandingCommandError> {
        let mut only_files = Vec::new();
        for option in &args.slots {
            let (taken, fixed): (Vec<_>, Vec<_>) = std::mem::take(&mut self.inputs)
                .into_iter()
                .partition(|input| option.matches(input.name.as_str()));
            self.inputs = fixed;
            let (name, files) = (option.name.clone(), option.files.clone());
            match taken.as_slice() {
                [] => {
                    let shown = reveal_line(files.as_str());
                    let help = "name the files as the request names its inputs";
                    return Err(refused(format!(
                        "--slot {}: no input of the request is named {shown}; help: {help}",
                        reveal_line(name.as_str())
                    )));
                }
                [only] => only_files.push((only.name.clone(), name.clone())),
                _ => {}
            }
            let count = u64::try_from(taken.len()).unwrap_or(u64::MAX);
            self.files.extend(taken.into_iter().map(|input| input.name));
            let (count, bytes_max) = ((count, count), args.slot_bytes);
            self.slots.push(ComposedSlot { name, files, count, bytes_max });
        }
        Ok(only_files)
    }

    /// Returns the line of a word without a parameter: the file of a slot, or the word itself.
    fn other_word(
        &mut self,
        only_files: &[(OneLine, OneLine)],
        number: usize,
        word: &str,
    ) -> Result<String, StandingCommandError> {
        let (beginning, value) = split(word);
        let below_in = value.strip_prefix("/in/");
        let is_it = |(file, _): &&(OneLine, OneLine)| below_in == Some(file.as_str());
        if let Some((_, slot)) = only_files.iter().find(is_it) {
            return Ok(format!("{beginning}{{in:{slot}}}"));
        }
        if word.contains(['{', '}']) {
            let help = "make it a parameter, or pass it in an input file";
            return Err(refused(format!(
                "word {number}: contains a brace, which marks a parameter; help: {help}"
            )));
        }
        let last = value.rsplit('/').next();
        if let Some(file) = self.files.iter().find(|file| last == Some(file.as_str())) {
            self.literal_files.push((number, file.clone()));
        }
        Ok(word.to_owned())
    }
}

fn refused(why: String) -> StandingCommandError {
    StandingCommandError::Refused(why)
}

fn parameter(option: &TemplateParameterOption) -> StandingParameter {
    StandingParameter { name: option.name.clone(), kind: option.kind.clone() }
}

/// Checks that each named word exists, and has one parameter.
fn check_numbers(
    options: &[TemplateParameterOption],
    count: usize,
) -> Result<(), StandingCommandError> {
    let mut seen = Vec::new();
    for option in options {
        let name = reveal_line(&option.name);
        for number in &option.words {
            if *number > count {
                return Err(refused(format!(
                    "--parameter {name}: word {number} does not exist; help: count the {count} \
                     words of the command from 1"
                )));
            }
            if seen.contains(number) {
                let help = "name each word once";
                return Err(refused(format!(
                    "--parameter {name}: word {number} has a parameter already; help: {help}"
                )));
            }
            seen.push(*number);
        }
    }
    Ok(())
}

/// Splits a word after its last `=`. No value of a parameter contains one.
fn split(word: &str) -> (&str, &str) {
    match word.rsplit_once('=') {
        Some((beginning, value)) => (word.get(..=beginning.len()).unwrap_or_default(), value),
        None => ("", word),
    }
}

fn parameter_word(
    option: &TemplateParameterOption,
    number: usize,
    word: &str,
) -> Result<String, StandingCommandError> {
    let (beginning, value) = split(word);
    let name = reveal_line(&option.name);
    if !option.kind.accepts(value) {
        let shown = model::quote(value);
        let help = "choose another word, or permit the value of the request";
        return Err(refused(format!(
            "--parameter {name}: word {number} is {shown}, not a permitted value; help: {help}"
        )));
    }
    Ok(format!("{beginning}{{{}}}", option.name))
}

fn to_line(number: usize, line: &str) -> Result<OneLine, StandingCommandError> {
    line.parse().map_err(|error| {
        let help = "pass it in an input file";
        refused(format!("word {number}: {error}; help: {help}"))
    })
}
