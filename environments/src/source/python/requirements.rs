//! Requirements of pip with hashes. Every line must name one package, its exact version and its
//! hashes. Installers get a text that this module writes, never the file, so that they cannot read
//! more in it than was checked.

use std::fmt::Write;

use model::quote;

use crate::source::error::SourceError;

/// The hash algorithms that pip and uv accept, and the digits of each.
const ALGORITHMS: [(&str, usize); 3] = [("sha256", 64), ("sha384", 96), ("sha512", 128)];
const REQUIREMENTS_MAX: usize = 10_000;
const HASH_HELP: &str = "uv pip compile --generate-hashes FILE -o requirements.txt";

/// A requirement of one version, with its hashes.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct HashedRequirement {
    /// Name, extras, version and marker.
    package: String,
    /// Each as `sha256:…`.
    hashes: Vec<String>,
}

/// A line of the file, with the lines that continue it.
struct LogicalLine<'a> {
    file: &'a str,
    number: usize,
    text: String,
}

/// Reads the requirements of a file with this name.
pub(super) fn parse(file: &str, text: &str) -> Result<Vec<HashedRequirement>, SourceError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut found = Vec::new();
    for line in logical_lines(file, text) {
        if !line.text.is_empty() {
            found.push(line.requirement()?);
        }
        if found.len() > REQUIREMENTS_MAX {
            let what = format!("{file}: more than {REQUIREMENTS_MAX} requirements");
            return Err(SourceError::refused(what, "split the file"));
        }
    }
    match found.is_empty() {
        true => Err(SourceError::refused(format!("{file}: names no packages"), HASH_HELP)),
        false => Ok(found),
    }
}

/// Returns the text for an installer: one line for each requirement.
pub(super) fn render(requirements: &[HashedRequirement]) -> String {
    let mut text = String::new();
    for HashedRequirement { package, hashes } in requirements {
        // Writing to a `String` cannot fail.
        write!(text, "{package}").unwrap_or_default();
        for hash in hashes {
            write!(text, " --hash={hash}").unwrap_or_default();
        }
        text.push('\n');
    }
    text
}

/// Joins continued lines and removes comments, as pip does.
fn logical_lines<'a>(file: &'a str, text: &str) -> Vec<LogicalLine<'a>> {
    let mut found = Vec::new();
    let mut open: Option<LogicalLine<'a>> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let begun = open.take();
        let mut whole = begun.unwrap_or_else(|| LogicalLine { file, number, text: String::new() });
        let is_comment = line.trim_start().starts_with('#');
        match line.strip_suffix('\\').filter(|_| !is_comment) {
            Some(part) => {
                whole.text.push_str(part);
                open = Some(whole);
            }
            None => {
                whole.text.push_str(if is_comment { "" } else { line });
                found.push(whole);
            }
        }
    }
    found.extend(open);
    for line in &mut found {
        line.text = without_comment(&line.text).trim().to_owned();
    }
    found
}

/// A `#` begins a comment only after a blank: a URL may have one.
fn without_comment(line: &str) -> &str {
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        if c == '#' && before.is_whitespace() {
            return line.get(..at).unwrap_or(line);
        }
        before = c;
    }
    line
}

impl LogicalLine<'_> {
    fn requirement(&self) -> Result<HashedRequirement, SourceError> {
        if self.text.starts_with('-') {
            let option = self.text.split(['=', ' ', '\t']).next().unwrap_or_default();
            return Err(self.option(option));
        }
        let options = self.text.find(" --").or_else(|| self.text.find("\t--"));
        let (package, options) = self.text.split_at(options.unwrap_or(self.text.len()));
        let package = self.package(package.trim())?;
        let hashes = options.split_whitespace().map(|option| self.hash(option));
        let hashes = hashes.collect::<Result<Vec<_>, _>>()?;
        match hashes.is_empty() {
            true => Err(self.refused(&format!("{}: no --hash", quote(&package)), HASH_HELP)),
            false => Ok(HashedRequirement { package, hashes }),
        }
    }

    /// Checks name, extras, version and marker, and returns them without blanks before the marker.
    fn package(&self, text: &str) -> Result<String, SourceError> {
        let (exact, marker) = text.split_once(';').unwrap_or((text, ""));
        let exact: String = exact.split_whitespace().collect();
        if exact.contains("://") || exact.contains('@') {
            return Err(self.refused(&format!("{}: a URL", quote(&exact)), HASH_HELP));
        }
        let is_path = exact.starts_with('.') || exact.contains(['/', '\\']);
        if is_path || [".whl", ".zip", ".tar.gz"].iter().any(|ending| exact.ends_with(ending)) {
            return Err(self.refused(&format!("{}: a local path", quote(&exact)), HASH_HELP));
        }
        if !is_exact(&exact) {
            let what = format!("{}: not NAME==VERSION", quote(&exact));
            return Err(self.refused(&what, HASH_HELP));
        }
        let marker = marker.trim();
        let is_plain = |c: char| (c.is_ascii_graphic() || c == ' ') && !"$`\\#{}".contains(c);
        if !marker.chars().all(is_plain) {
            let what = format!("{}: not a marker", quote(marker));
            return Err(self.refused(&what, HASH_HELP));
        }
        Ok(if marker.is_empty() { exact } else { format!("{exact} ; {marker}") })
    }

    fn hash(&self, option: &str) -> Result<String, SourceError> {
        let Some(hash) = option.strip_prefix("--hash=") else {
            return Err(self.option(option.split('=').next().unwrap_or_default()));
        };
        let (algorithm, digits) = hash.split_once(':').unwrap_or((hash, ""));
        let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
        let known = ALGORITHMS.iter().find(|(name, _)| *name == algorithm);
        match known.filter(|(_, len)| digits.len() == *len && digits.chars().all(is_digit)) {
            Some(_) => Ok(hash.to_owned()),
            None => Err(self.refused(&format!("{}: not a hash", quote(option)), HASH_HELP)),
        }
    }

    fn option(&self, option: &str) -> SourceError {
        let help = "write only NAME==VERSION with --hash=… in each line";
        self.refused(&format!("option {} is not allowed", quote(option)), help)
    }

    fn refused(&self, problem: &str, help: &str) -> SourceError {
        SourceError::refused(format!("{}:{}: {problem}", self.file, self.number), help)
    }
}

/// Returns whether the text is `name[extras]==version`.
fn is_exact(text: &str) -> bool {
    let Some((name, version)) = text.split_once("==") else { return false };
    let (name, extras) = name.split_once('[').unwrap_or((name, "]"));
    let Some(extras) = extras.strip_suffix(']') else { return false };
    let is_word = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let version = version.strip_prefix('=').unwrap_or(version);
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(is_word)
        && extras.chars().all(|c| is_word(c) || c == ',')
        && version.starts_with(|c: char| c.is_ascii_alphanumeric())
        && version.chars().all(|c| is_word(c) || "+!".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn problem(text: &str) -> String {
        parse("requirements.txt", text).unwrap_err().to_string()
    }

    #[test]
    fn requirements_of_uv_are_read() {
        let text = format!(
            "# made by uv\nnumpy==2.0.1 ; python_version >= '3.9' \\\n    --hash={HASH} \\\n    \
             --hash={HASH}\n    # via pandas\n\nrich [jupyter] == 13.7.0 --hash={HASH}  # a note\n"
        );
        let found = parse("requirements.txt", &text).unwrap();
        assert_eq!(
            render(&found),
            format!(
                "numpy==2.0.1 ; python_version >= '3.9' --hash={HASH} --hash={HASH}\n\
                 rich[jupyter]==13.7.0 --hash={HASH}\n"
            )
        );
    }

    #[test]
    fn a_requirement_without_a_hash_is_refused_with_its_line() {
        let text = format!("a==1 --hash={HASH}\n\n# b\nb==2\n");
        let problem = problem(&text);
        assert!(problem.starts_with("requirements.txt:4: `b==2`: no --hash; help: "), "{problem}");
        assert!(problem.ends_with(HASH_HELP), "{problem}");
    }

    #[test]
    fn everything_else_is_refused_by_name() {
        for (line, word) in [
            ("-r other.txt", "option `-r`"),
            ("--index-url=https://example.org", "option `--index-url`"),
            ("-e .", "option `-e`"),
            ("a @ https://example.org/a.whl", "a URL"),
            ("git+https://example.org/a", "a URL"),
            ("./wheels/a-1-py3-none-any.whl", "a local path"),
            ("a-1-py3-none-any.whl", "a local path"),
            ("a>=1", "not NAME==VERSION"),
            ("a==1.*", "not NAME==VERSION"),
            ("a==${VERSION}", "not NAME==VERSION"),
            ("a", "not NAME==VERSION"),
            ("a==1 ; $HOME", "not a marker"),
            ("a==1 --hash=md5:00", "not a hash"),
            ("a==1 --hash=sha256:00", "not a hash"),
            ("a==1 --config-settings=x=y", "option `--config-settings`"),
        ] {
            let problem = problem(line);
            assert!(problem.starts_with("requirements.txt:1: "), "{line}: {problem}");
            assert!(problem.contains(word), "{line}: {problem}");
        }
        assert!(problem("# nothing\n").contains("names no packages"));
    }
}
