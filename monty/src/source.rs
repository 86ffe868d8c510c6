//! Reads and compiles code. A text that is too long or not UTF-8 is refused before anything parses
//! it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use monty_interpreter::MontyRun;
use monty_types::{AssertMessageAnnotations, CompileOptions, MontyException};

use crate::failure::MontyFailure;

const CODE_BYTES_MAX: u64 = 1 << 20;

/// Python code, and the name that tracebacks show.
#[derive(Clone, Debug)]
pub struct PythonSource {
    name: String,
    text: String,
}

impl PythonSource {
    /// Reads a file of at most 1 MiB.
    ///
    /// # Errors
    /// `Refused` if it cannot be read, is too large or is not UTF-8.
    pub fn open(path: &Path) -> Result<Self, MontyFailure> {
        let text = read_file(path, CODE_BYTES_MAX)?;
        Ok(Self { name: path.display().to_string(), text })
    }

    /// Reads code of at most 1 MiB, for example from standard input.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn read(name: &str, from: impl Read) -> Result<Self, MontyFailure> {
        Ok(Self { name: name.to_owned(), text: read_text(name, from, CODE_BYTES_MAX)? })
    }

    /// Returns the name that tracebacks show.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the code.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Compiles the code. Each name becomes a variable, with its value in the same place.
    pub(crate) fn compile(self, names: Vec<String>) -> Result<MontyRun, MontyException> {
        // An assertion without a message fails without one, as in CPython.
        let options = CompileOptions { assert_message_annotations: AssertMessageAnnotations::Off };
        MontyRun::new(self.text, &self.name, names, options)
    }
}

pub(crate) fn read_file(path: &Path, most: u64) -> Result<String, MontyFailure> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => read_text(&name, file, most),
        Err(error) => Err(unreadable(&name, &error.to_string())),
    }
}

fn read_text(name: &str, from: impl Read, most: u64) -> Result<String, MontyFailure> {
    let mut bytes = Vec::new();
    from.take(most.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(name, &error.to_string()))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most {
        let message = format!("{name}: larger than {most} bytes; help: give a smaller file");
        return Err(MontyFailure::Refused(message));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message = format!("{name}: not UTF-8 at byte {at}; help: save it as UTF-8");
        MontyFailure::Refused(message)
    })
}

fn unreadable(name: &str, why: &str) -> MontyFailure {
    MontyFailure::Refused(format!("{name}: {why}; help: name a readable file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_bounded_and_utf8() {
        assert_eq!(read_text("a", &b"1 + 1"[..], 5).unwrap(), "1 + 1");
        let refused = |bytes: &[u8]| read_text("a", bytes, 5).unwrap_err().to_string();
        assert!(refused(b"1 + 10").contains("a: larger than 5 bytes"));
        assert!(refused(b"ab\xff").contains("a: not UTF-8 at byte 2"));
    }

    #[test]
    fn a_directory_and_a_missing_file_are_refused() {
        for path in ["/", "/nonexistent/code.py"] {
            let failure = PythonSource::open(Path::new(path)).unwrap_err();
            assert_eq!(failure.exit_status(), 2, "{failure}");
        }
    }
}
