//! The variables that code starts with. JSON is read by monty's own `json.loads`, so a number is
//! the `int` or `float` that Python would make of it, however long. Must never drop a key.

use std::path::Path;
use std::time::Instant;

use monty_types::{DictPairs, MontyException, MontyObject, PrintWriter, ResourceTracker};

use crate::failure::MontyFailure;
use crate::limits::InterpreterLimits;
use crate::source::{PythonSource, read_file};

const INPUTS_BYTES_MAX: u64 = 16 << 20;

/// Variables and their values, in the same order.
#[derive(Debug, Default)]
pub struct ProgramInputs {
    names: Vec<String>,
    values: Vec<MontyObject>,
}

impl ProgramInputs {
    /// Reads a JSON object of at most 16 MiB. Each key becomes a variable.
    ///
    /// # Errors
    /// `Refused` if it cannot be read, is not an object, or has a key that cannot be a variable.
    /// `Raised` if reading it reaches a limit.
    pub fn open(path: &Path, limits: InterpreterLimits) -> Result<Self, MontyFailure> {
        Self::parse(read_file(path, INPUTS_BYTES_MAX)?, limits)
    }

    /// Parses a JSON object. Each key becomes a variable.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn parse(json: String, limits: InterpreterLimits) -> Result<Self, MontyFailure> {
        let MontyObject::Dict(pairs) = loads(json, limits)? else {
            return Err(refused("not an object"));
        };
        let inputs = Self::of(pairs)?;
        // Compiling no code with these names leaves their check to monty.
        let nothing = PythonSource::read("inputs", std::io::empty())?;
        match nothing.compile(inputs.names.clone()) {
            Ok(_) => Ok(inputs),
            Err(raised) => Err(refused(raised.message().unwrap_or("a key is not a variable"))),
        }
    }

    /// Gives a script its arguments, in the variable `argv`: monty has no `sys.argv`.
    #[must_use]
    pub fn arguments(argv: Vec<String>) -> Self {
        let argv = argv.into_iter().map(MontyObject::String).collect();
        Self { names: vec!["argv".to_owned()], values: vec![MontyObject::List(argv)] }
    }

    pub(crate) fn into_parts(self) -> (Vec<String>, Vec<MontyObject>) {
        (self.names, self.values)
    }

    fn of(pairs: DictPairs) -> Result<Self, MontyFailure> {
        let mut inputs = Self::default();
        for (key, value) in pairs {
            let MontyObject::String(name) = key else {
                return Err(refused("a key is not a text"));
            };
            inputs.names.push(name);
            inputs.values.push(value);
        }
        Ok(inputs)
    }
}

/// Returns the value of a JSON text.
fn loads(json: String, limits: InterpreterLimits) -> Result<MontyObject, MontyFailure> {
    let code = "import json\njson.loads(text)";
    let reader = PythonSource::read("inputs", code.as_bytes())?;
    let reader = reader.compile(vec!["text".to_owned()]).map_err(internal)?;
    let tracker = ResourceTracker::new(limits.resources());
    let clock = Instant::now();
    let loaded = reader.run(vec![MontyObject::String(json)], tracker, PrintWriter::Disabled);
    loaded.map_err(|raised| match limits.failure(raised, clock.elapsed()) {
        MontyFailure::Raised { raised, limit: None } => {
            refused(raised.message().unwrap_or("not JSON"))
        }
        failure => failure,
    })
}

fn refused(why: &str) -> MontyFailure {
    let help = "write one object, such as {\"rows\": [1, 2]}; each key is a variable";
    MontyFailure::Refused(format!("inputs: {why}; help: {help}"))
}

fn internal(raised: MontyException) -> MontyFailure {
    MontyFailure::Internal(format!("inputs: {}", raised.summary()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: InterpreterLimits = InterpreterLimits { time_ms: 10_000, memory_mb: 64 };

    fn parsed(json: &str) -> Result<ProgramInputs, MontyFailure> {
        ProgramInputs::parse(json.to_owned(), LIMITS)
    }

    #[test]
    fn each_key_is_a_variable() {
        let (names, values) = parsed(r#"{"rows": [1, 2.5], "name": "x"}"#).unwrap().into_parts();
        assert_eq!(names, ["rows", "name"]);
        let rows = MontyObject::List(vec![MontyObject::Int(1), MontyObject::Float(2.5)]);
        assert_eq!(values, [rows, MontyObject::String("x".to_owned())]);
        assert_eq!(parsed("{}").unwrap().names.len(), 0);
    }

    #[test]
    fn a_long_integer_stays_one() {
        let (_, values) = parsed(r#"{"n": 123456789012345678901234567890}"#).unwrap().into_parts();
        assert_eq!(values[0].to_string(), "123456789012345678901234567890");
    }

    #[test]
    fn odd_inputs_are_refused() {
        for odd in [
            "",
            "[]",
            "1",
            "null",
            "{\"a\": }",
            "{\"a\": 1} x",
            "{\"two words\": 1}",
            "{\"\": 1}",
            "{\"1a\": 1}",
            "{\"class\": 1}",
            "{\"a-b\": 1}",
        ] {
            let failure = parsed(odd).expect_err(odd);
            assert_eq!(failure.exit_status(), 2, "{odd}: {failure}");
            assert!(failure.to_string().contains("; help: "), "{odd}: {failure}");
        }
    }
}
