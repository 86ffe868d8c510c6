//! Names the first construct of a program that monty refuses. Compiling finds syntax and
//! unsupported statements. The rest appears only when a program runs: monty compiles an import of
//! an unknown module into an exception. So the syntax tree is read too, and the interpreter is
//! asked about each import, attribute and built-in name. It evaluates expressions that need nothing
//! else of the program, which never runs as a whole. A question that depends on other values is not
//! asked, so a program without a problem may still raise an exception.

mod closed;
mod guards;
mod model;
mod names;
mod probe;
mod questions;
mod walk;

use monty_types::StackFrame;

pub use model::CodeProblem;

use crate::source::PythonSource;

/// Checks code that starts with these variables, without running it as a whole. Returns the first construct
/// that monty refuses, by line and column. `None` if it compiles and no such construct is known.
#[must_use]
pub fn check(source: PythonSource, variables: &[String]) -> Option<CodeProblem> {
    let refused = walk::first_refused(source.text(), variables);
    let compiled = compile(source);
    let problems = [compiled, refused].into_iter().flatten();
    problems.min_by_key(|problem| (problem.line, problem.column))
}

fn compile(source: PythonSource) -> Option<CodeProblem> {
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
        check(PythonSource::read("code.py", code.as_bytes()).unwrap(), &[])
    }

    fn place(code: &str) -> Option<(u32, u32)> {
        checked(code).map(|problem| (problem.line, problem.column))
    }

    #[test]
    fn what_monty_has_is_no_problem() {
        for code in [
            "",
            "undefined_name\nargv[1]\nundefined_function(1)\n",
            "import json, math\njson.loads(text)\nmath.sqrt(x) + math.pi\n",
            "from datetime import datetime\ndatetime.fromisoformat(text).isoformat()\n",
            "', '.join(rows).upper().split(',')\nf'{x}'.strip()\nb''.decode()\n",
            "open('/in/a.txt', encoding='utf-8').readlines()\nopen(path, mode)\n",
            "x % 3\nx <= y\n{1} | {2}\nprint('a', end='', file=None)\nprint(x, file=target)\n",
            "dict.fromkeys(rows, 0)\nValueError('text')\nraise SystemExit\n",
        ] {
            assert_eq!(checked(code), None, "{code}");
        }
    }

    #[test]
    fn what_the_code_expects_to_be_missing_is_no_problem() {
        for code in [
            "try:\n    import csv\nexcept ImportError:\n    csv = None\nif csv: csv.reader(x)\n",
            "try:\n    import numpy as np\nexcept:\n    pass\nelse:\n    np.array([])\n",
            "try:\n    argv\nexcept NameError:\n    import sys\n    argv = sys.argv\n",
            "try:\n    int(x)\nexcept ValueError as why:\n    import sys\n    sys.exit(1)\n",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import csv\n",
            "import sys\nif sys.platform != 'monty':\n    import csv\n    print(sys.argv)\n",
            "import sys\nif hasattr(sys, 'argv'):\n    print(sys.argv)\n",
            "import sys\nx = sys.argv if hasattr(sys, 'argv') else argv\n",
            "def reads(x: csv.reader) -> csv.writer:\n    return x\nreads(1)\n",
            "def never_called():\n    import csv\n",
        ] {
            assert_eq!(checked(code), None, "{code}");
        }
    }

    #[test]
    fn a_name_with_two_meanings_has_none() {
        for code in [
            "def format(x): return x\nformat(1)\n",
            "for input in rows: print(input)\n",
            "import sys\nsys = get()\nsys.argv\n",
            "import json\njson.extra = 1\njson.extra\n",
            "def f(math): return math.hypot(1)\nimport math\nf(x)\n",
        ] {
            assert_eq!(checked(code), None, "{code}");
        }
        let variables = ["input".to_owned()];
        let source = PythonSource::read("code.py", &b"input + 1"[..]).unwrap();
        assert_eq!(check(source.clone(), &variables), None);
        assert!(check(source, &[]).unwrap().message.contains("'input'"));
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

    #[test]
    fn the_first_problem_wins() {
        assert_eq!(place("import csv\nx = 1\ndel x\n"), Some((1, 1)));
        assert_eq!(place("x = 1\ndel x\nimport csv\n"), Some((2, 1)));
        assert_eq!(place("text = 'é'; print('%d' % 1, input())\n"), Some((1, 19)));
        assert_eq!(place("print(\n    input(),\n    '%d' % 1,\n)\n"), Some((2, 5)));
    }

    #[test]
    fn deep_nesting_is_left_to_the_compiler() {
        let code = format!("import csv\nx = {}1", "1 + ".repeat(1000));
        assert!(checked(&code).unwrap().message.starts_with("SyntaxError: "));
    }
}
