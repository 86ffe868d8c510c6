//! `check`: each construct of the tables in docs/monty.md is named with line and column before the
//! code runs, and raises its exception at that line when the code runs.

use std::process::Stdio;

use toolexec_monty::{
    CodeProblem, InterpreterLimits, MontyFailure, ProgramInputs, PythonProgram, PythonSource,
    ScriptDirectories, check,
};

use crate::support::{MontyBench, MontyOutput, program};

const LIMITS: InterpreterLimits = InterpreterLimits { time_ms: 60_000, memory_mb: 256 };

fn source(code: &str) -> PythonSource {
    PythonSource::read("code.py", code.as_bytes()).unwrap()
}

fn problem(code: &str) -> CodeProblem {
    check(source(code), &[]).unwrap_or_else(|| panic!("no problem: {code}"))
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
        let problem = problem(code);
        assert!(problem.message.contains(message), "{code}: {problem:?}");
        assert_eq!((problem.line, problem.column), (line, column), "{code}: {problem:?}");
    }
}

/// Code, the place of its problem, and a part of the exception.
type RefusedRow = (&'static str, u32, u32, &'static str);

const MISSING_NAMES: [RefusedRow; 16] = [
    ("\nimport csv", 2, 1, "No module named 'csv'"),
    ("import json, statistics", 1, 1, "No module named 'statistics'"),
    ("def f():\n    import random\nf()", 2, 5, "No module named 'random'"),
    ("import os.path", 1, 1, "No module named 'os.path'"),
    ("from enum import Enum", 1, 1, "No module named 'enum'"),
    ("import own_module", 1, 1, "No module named 'own_module'"),
    ("import json\nfrom json import (\n    loads,\n    dump,\n)", 2, 1, "name 'dump'"),
    ("import math as m\nx = [m.pi, m.tau, m.hypot(3, 4)]", 2, 19, "attribute 'hypot'"),
    ("import sys\nx = sys.argv[1:]", 2, 5, "attribute 'argv'"),
    ("import sys\nsys.exit(5)", 2, 1, "attribute 'exit'"),
    ("import sys\nx = 'é', sys.stdin", 2, 10, "attribute 'stdin'"),
    ("from pathlib import Path\nPath('/in').glob('*')", 2, 1, "attribute 'glob'"),
    ("x = sorted(['a'], key=str.lower)", 1, 23, "attribute 'lower'"),
    ("x = 1\nprint(format(x))", 2, 7, "'format'"),
    ("print(__file__)", 1, 7, "'__file__'"),
    ("print('a'.translate({}))", 1, 7, "attribute 'translate'"),
];

const MISSING_OPERATIONS: [RefusedRow; 18] = [
    ("import os\nx = os.environ['HOME']", 2, 5, "'os.environ'"),
    ("import os\nx = os.getenv('HOME')", 2, 5, "'os.getenv'"),
    ("from datetime import date\nx = [date.today()]", 2, 6, "'date.today'"),
    ("x = 1\nprint('%d' % x)", 2, 7, "unsupported operand"),
    ("x = b'%d' % 1", 1, 5, "unsupported operand"),
    ("x = [1]\nset(x) <= {2}", 2, 1, "'<=' not supported"),
    ("{1} < frozenset([2])", 1, 1, "'<' not supported"),
    ("import re\nre.sub('a', lambda m: 'b', 'a')", 2, 1, "callable replacement"),
    ("import re\ndef f(m): return 'b'\nre.sub('a', f, 'a')", 3, 1, "callable replacement"),
    ("for line in open('/in/a.txt'):\n    print(line)", 1, 13, "not iterable"),
    ("file = open('/in/a.txt')\nx = [line for line in file]", 2, 23, "not iterable"),
    ("file = open('/in/a.txt')\nx = list(file)", 2, 5, "not iterable"),
    ("import sys\nprint('a', file=sys.stderr)", 2, 1, "'file' argument"),
    ("file = open('/out/a', 'w')\nprint('a', file=file)", 2, 1, "'file' argument"),
    ("file = open('/in/a.txt', 'r+')", 1, 8, "update modes"),
    ("file = open('/in/a.txt', mode='a+b')", 1, 8, "update modes"),
    ("file = open('/in/a.txt', encoding='latin-1')", 1, 8, "'encoding' argument"),
    ("raise SystemExit(3)", 1, 7, "zero or one string argument"),
];

#[test]
fn a_missing_part_has_a_place_and_raises_there() {
    let bench = MontyBench::new();
    bench.write("in/a.txt", "1\n2\n");
    let directories = ScriptDirectories { input: bench.path("in"), output: bench.path("out") };
    for (code, line, column, message) in MISSING_NAMES.into_iter().chain(MISSING_OPERATIONS) {
        let problem = problem(code);
        assert!(problem.message.contains(message), "{code}: {problem:?}");
        assert_eq!((problem.line, problem.column), (line, column), "{code}: {problem:?}");
        let program = PythonProgram::compile(source(code), ProgramInputs::default()).unwrap();
        let raised = match program.run(LIMITS, Some(&directories), Vec::new()).unwrap_err() {
            MontyFailure::Raised { raised, limit: None } => raised,
            other => panic!("{code}: {other}"),
        };
        let kind = |text: &str| text.split(':').next().unwrap().to_owned();
        assert_eq!(kind(&raised.summary()), kind(&problem.message), "{code}");
        // An exception that the interpreter cannot make has no traceback.
        if let Some(frame) = raised.traceback().last() {
            assert_eq!(frame.start.line, line, "{code}: {raised}");
        }
    }
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
fn the_names_of_variables_are_not_those_of_missing_functions() {
    let bench = MontyBench::new();
    let file = bench.write("code.py", "print(vars, input, dir)\n");
    let output = MontyOutput::of(program().args(["check", "--variables", "input,vars"]).arg(&file));
    assert!(output.status == 1 && output.out.contains("'dir'"), "{output:?}");
    let every = ["check", "--variables", "input,vars", "--variables", "dir"];
    let output = MontyOutput::of(program().args(every).arg(&file));
    assert_eq!((output.status, output.out.as_str()), (0, ""), "{output:?}");
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
