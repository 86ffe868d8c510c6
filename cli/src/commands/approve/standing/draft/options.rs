//! The options that say which words and inputs of a request may vary.

use std::str::FromStr;

use validator::{NotOneLine, OneLine, ParameterKind, TextAlphabet};

const DATE_CHARS: usize = "YYYY-MM-DD".len();

/// `NAME@WORD[,WORD]=SPEC`: words that requests may choose.
#[derive(Clone, Debug)]
pub(crate) struct TemplateParameterOption {
    pub(super) name: String,
    /// The numbers of the words, from 1.
    pub(super) words: Vec<usize>,
    pub(super) kind: ParameterKind,
}

/// `NAME=FILES`: inputs whose content requests may choose.
#[derive(Clone, Debug)]
pub(crate) struct TemplateSlotOption {
    pub(super) name: OneLine,
    pub(super) files: OneLine,
}

impl FromStr for TemplateParameterOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "not NAME@WORD=SPEC, such as year@3=2000..2035";
        let (name, rest) = text.split_once('@').ok_or(FORM)?;
        let (words, spec) = rest.split_once('=').ok_or(FORM)?;
        let words = words.split(',').map(word_number).collect::<Result<_, _>>()?;
        Ok(Self { name: name.to_owned(), words, kind: kind(spec)? })
    }
}

fn word_number(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number: &usize| *number > 0);
    number.ok_or_else(|| format!("`{text}` is not the number of a word, from 1"))
}

fn bound(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number"))
}

fn kind(spec: &str) -> Result<ParameterKind, String> {
    if let Some((min, max)) = spec.split_once("..") {
        return Ok(ParameterKind::Integer { min: bound(min)?, max: bound(max)? });
    }
    if spec.contains('|') {
        return Ok(ParameterKind::Choice(spec.split('|').map(str::to_owned).collect()));
    }
    let (alphabet, chars_max) = spec.split_once(':').unwrap_or((spec, ""));
    let alphabet = TextAlphabet::named(alphabet).ok_or_else(|| {
        format!("`{spec}` is not MIN..MAX, A|B|C, identifier:CHARS, date or number-list:CHARS")
    })?;
    let chars_max = match chars_max {
        "" if alphabet == TextAlphabet::Date => DATE_CHARS,
        chars_max => chars_max
            .parse::<usize>()
            .map_err(|_| format!("`{spec}` has no number of characters, such as {alphabet}:32"))?,
    };
    Ok(ParameterKind::Text { alphabet, chars_max })
}

impl FromStr for TemplateSlotOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, files) = text.split_once('=').ok_or("not NAME=FILES, such as table=*.csv")?;
        Ok(Self { name: one_line(name)?, files: one_line(files)? })
    }
}

fn one_line(text: &str) -> Result<OneLine, String> {
    text.parse().map_err(|error: NotOneLine| error.to_string())
}

impl TemplateSlotOption {
    /// Returns whether an input of this name belongs to the slot. The reader of the written file
    /// compares it again.
    pub(super) fn matches(&self, name: &str) -> bool {
        match self.files.as_str().split_once('*') {
            None => name == self.files.as_str(),
            Some((beginning, end)) => {
                name.len() > beginning.len() + end.len()
                    && name.starts_with(beginning)
                    && name.ends_with(end)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(text: &str) -> Result<ParameterKind, String> {
        text.parse().map(|option: TemplateParameterOption| option.kind)
    }

    #[test]
    fn a_parameter_names_its_words_and_its_values() {
        let option: TemplateParameterOption = "year@3,5=-5..2035".parse().unwrap();
        assert_eq!((option.name.as_str(), option.words.as_slice()), ("year", [3, 5].as_slice()));
        assert_eq!(option.kind, ParameterKind::Integer { min: -5, max: 2035 });
        let words = ["a@b", "c:d"].map(str::to_owned).to_vec();
        assert_eq!(kind_of("by@2=a@b|c:d"), Ok(ParameterKind::Choice(words)));
        for (text, alphabet, chars_max) in [
            ("x@2=date", TextAlphabet::Date, 10),
            ("x@2=identifier:32", TextAlphabet::Identifier, 32),
            ("x@2=number-list:7", TextAlphabet::NumberList, 7),
        ] {
            assert_eq!(kind_of(text), Ok(ParameterKind::Text { alphabet, chars_max }), "{text}");
        }
        for wrong in ["y=1..2", "y@0=1..2", "y@x=1..2", "y@1=1..b", "y@1=word", "y@1=identifier"] {
            assert!(kind_of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_slot_takes_the_files_of_its_pattern() {
        let slot: TemplateSlotOption = "table=sales-*.csv".parse().unwrap();
        let names = ["sales-1.csv", "sales-.csv", "sales-1.csv.py", "x-sales-1.csv"];
        assert_eq!(names.map(|name| slot.matches(name)), [true, false, false, false]);
        let slot: TemplateSlotOption = "table=a.csv".parse().unwrap();
        assert_eq!(["a.csv", "b.csv"].map(|name| slot.matches(name)), [true, false]);
    }
}
