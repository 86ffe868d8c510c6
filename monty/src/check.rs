//! Compiles code without running it, and names the first construct that monty refuses. Compiling
//! finds syntax and unsupported statements. Missing modules, attributes and names appear only when
//! the code runs: monty compiles an import of an unknown module into an exception.

use monty_types::StackFrame;
use serde::Serialize;

use crate::source::PythonSource;

/// The first construct that monty refuses. Line and column count from 1, columns in characters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CodeProblem {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// The exception and its text, as monty writes them.
    pub message: String,
}

/// Compiles code without running it. Returns `None` if monty can compile it.
#[must_use]
pub fn check(source: PythonSource) -> Option<CodeProblem> {
    let refused = source.compile(Vec::new()).err()?;
    let frame: Option<&StackFrame> = refused.traceback().last();
    let start = frame.map(|frame| frame.start).unwrap_or_default();
    // Without a place the problem is in the whole code, which begins at its first character.
    let (line, column) = (start.line.max(1), start.column.max(1));
    Some(CodeProblem { line, column, message: refused.summary() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(code: &str) -> Option<CodeProblem> {
        check(PythonSource::read("code.py", code.as_bytes()).unwrap())
    }

    #[test]
    fn what_compiles_has_no_problem() {
        assert_eq!(checked(""), None);
        assert_eq!(checked("import csv\nundefined_name\nargv[1]\n"), None, "known at run time");
    }

    #[test]
    fn a_problem_has_a_line_and_a_column() {
        let problem = checked("total = 1\nif total:\n    del total\n").unwrap();
        assert_eq!((problem.line, problem.column), (3, 5), "{}", problem.message);
        assert!(problem.message.contains("'del' statement"), "{}", problem.message);
        let problem = checked("text = 'é'; f = yield 1\n").unwrap();
        assert_eq!((problem.line, problem.column), (1, 17), "characters: {}", problem.message);
        assert!(checked("x = (").unwrap().message.starts_with("SyntaxError: "));
        for code in ["(", "x = '", "\0", "if 1:", "class"] {
            let problem = checked(code).unwrap();
            assert!(problem.line >= 1 && problem.column >= 1, "{code}: {problem:?}");
        }
    }
}
