//! `check`, and the unsupported constructs: each is reported with line and column, by compiling
//! the code or by running it.

use std::process::Stdio;

use toolexec_monty::{
    InterpreterLimits, MontyFailure, ProgramInputs, PythonProgram, PythonSource, check,
};

use crate::support::{MontyBench, MontyOutput, program};

const LIMITS: InterpreterLimits = InterpreterLimits { time_ms: 60_000, memory_mb: 256 };

fn source(code: &str) -> PythonSource {
    PythonSource::read("code.py", code.as_bytes()).unwrap()
}

#[test]
fn unsupported_statements_do_not_compile() {
    for (code, line, column, message) in [
        ("x = 1\ndel x", 2, 1, "'del' statement"),
        ("class A: pass\nclass B(A): pass", 2, 1, "inheritance"),
        ("class A:\n    @property\n    def b(self): pass", 2, 5, "method decorators"),
        ("def f():\n    yield 1", 2, 5, "yield expressions"),
        ("def f():\n    yield from []", 2, 5, "yield from"),
        ("match 1:\n    case 1: pass", 1, 1, "pattern matching"),
        ("from math import *", 1, 1, "Wildcard imports"),
        ("x = 2j", 1, 5, "complex constants"),
        ("try:\n    pass\nexcept* ValueError:\n    pass", 1, 1, "exception groups"),
        ("type A = int", 1, 1, "type aliases"),
        ("from . import a", 1, 1, "relative import"),
    ] {
        let problem = check(source(code)).unwrap_or_else(|| panic!("it compiles: {code}"));
        assert!(problem.message.contains(message), "{code}: {problem:?}");
        assert_eq!((problem.line, problem.column), (line, column), "{code}: {problem:?}");
    }
}

#[test]
fn missing_modules_and_functions_appear_at_run_time() {
    for (code, line, message) in [
        ("\nimport csv", 2, "No module named 'csv'"),
        ("import argparse", 1, "No module named 'argparse'"),
        ("import statistics", 1, "No module named 'statistics'"),
        ("import hashlib", 1, "No module named 'hashlib'"),
        ("import random", 1, "No module named 'random'"),
        ("import string", 1, "No module named 'string'"),
        ("import io", 1, "No module named 'io'"),
        ("from enum import Enum", 1, "No module named 'enum'"),
        ("from decimal import Decimal", 1, "No module named 'decimal'"),
        ("import own_module", 1, "No module named 'own_module'"),
        ("import sys\nsys.argv", 2, "no attribute 'argv'"),
        ("import sys\nsys.exit(5)", 2, "no attribute 'exit'"),
        ("x = 1\n'%d' % x", 2, "unsupported operand"),
    ] {
        assert_eq!(check(source(code)), None, "it compiles: {code}");
        let program = PythonProgram::compile(source(code), ProgramInputs::default()).unwrap();
        let failure = program.run(LIMITS, None, Vec::new()).unwrap_err();
        let raised = match failure {
            MontyFailure::Raised { raised, limit: None } => raised,
            other => panic!("{code}: {other}"),
        };
        let start = raised.traceback().last().unwrap().start;
        assert!(raised.summary().contains(message), "{code}: {raised}");
        assert!(start.line == line && start.column >= 1, "{code}: {start:?}");
    }
}

#[test]
fn a_file_is_not_an_iterator() {
    let bench = MontyBench::new();
    bench.write("in/a.txt", "1\n2\n");
    let output = bench.script_text("file = open('/in/a.txt')\nfor line in file:\n    print(line)");
    assert_eq!((output.status, output.out.as_str()), (1, ""), "{output:?}");
    assert!(output.err.contains("line 2") && output.err.contains("not iterable"), "{output:?}");
}

#[test]
fn a_problem_is_one_line_of_json() {
    let bench = MontyBench::new();
    let file = bench.write("code.py", "x = 1\ndel x\n");
    let output = MontyOutput::of(program().arg("check").arg(file));
    assert_eq!((output.status, output.err.as_str()), (1, ""), "{output:?}");
    let line = output.out.strip_suffix('\n').unwrap();
    assert!(line.starts_with(r#"{"line":2,"column":1,"message":"#) && !line.contains('\n'));
}

#[test]
fn standard_input_is_checked_without_a_file() {
    let bench = MontyBench::new();
    let good = std::fs::File::open(bench.write("code.py", "print(argv)\n")).unwrap();
    let output = MontyOutput::of(program().arg("check").stdin(Stdio::from(good)));
    assert_eq!((output.status, output.out.as_str(), output.err.as_str()), (0, "", ""));
    let output = MontyOutput::of(program().args(["check", "/nonexistent/code.py"]));
    assert!(output.status == 2 && output.out.is_empty(), "{output:?}");
}

#[test]
fn deep_nesting_is_a_problem_and_not_a_crash() {
    let bench = MontyBench::new();
    for code in ["(".repeat(50_000), "not ".repeat(50_000), "[".repeat(500) + &"]".repeat(500)] {
        let file = bench.write("code.py", code);
        let output = MontyOutput::of(program().arg("check").arg(file));
        assert!(output.status == 1 && output.out.contains("SyntaxError"), "{output:?}");
    }
}
