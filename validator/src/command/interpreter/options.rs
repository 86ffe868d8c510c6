//! Options by which a word becomes a script or code. The source is each program's manual.

use model::Language;

/// The language of a program's code; it determines the ways to start a shell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    Python,
    Node,
    Ruby,
    Perl,
    Php,
    Lua,
    R,
    Awk,
    Sed,
}

/// The effect of an interpreter's options on the words around them.
pub(super) struct InterpreterOptions {
    pub(super) family: Family,
    /// Short options whose value is code.
    pub(super) code: &'static str,
    /// True if every word after the code is an argument of it.
    pub(super) code_ends: bool,
    /// True if the first plain word is code, not a file.
    pub(super) is_filter: bool,
    /// Short options that name a module instead of a script.
    pub(super) module: &'static str,
    /// Short options whose attached or next value is a file or library that runs first.
    pub(super) runs: &'static str,
    /// Short options with a value, attached or in the next word.
    pub(super) valued: &'static str,
    /// Long options whose value is code.
    pub(super) long_code: &'static [&'static str],
    /// Long options with a value in the next word.
    pub(super) long_valued: &'static [&'static str],
    /// Options whose value is a file that runs or is read first.
    pub(super) preload: &'static [&'static str],
    /// Subcommands before the script.
    pub(super) subcommands: &'static [&'static str],
    /// Subcommands that are followed by code.
    pub(super) evaluating: &'static [&'static str],
}

const NONE: InterpreterOptions = InterpreterOptions {
    family: Family::Python,
    code: "",
    code_ends: false,
    is_filter: false,
    module: "",
    runs: "",
    valued: "",
    long_code: &[],
    long_valued: &[],
    preload: &[],
    subcommands: &[],
    evaluating: &[],
};

const PYTHON: InterpreterOptions = InterpreterOptions {
    code: "c",
    code_ends: true,
    module: "m",
    valued: "WX",
    long_valued: &["--check-hash-based-pycs"],
    ..NONE
};

const NODE: InterpreterOptions = InterpreterOptions {
    family: Family::Node,
    code: "ep",
    valued: "C",
    long_code: &["--eval", "--print"],
    long_valued: &[
        "--conditions",
        "--input-type",
        "--run",
        "--title",
        "--inspect-port",
        "--stack-trace-limit",
        "--test-name-pattern",
        "--test-reporter",
        "--max-http-header-size",
    ],
    preload: &["-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file"],
    subcommands: &["inspect", "debug"],
    ..NONE
};

const TS_NODE: InterpreterOptions = InterpreterOptions {
    code: "ep",
    valued: "CPOIHD",
    long_valued: &["--project", "--compiler", "--compilerOptions", "--ignore", "--cwd", "--dir"],
    subcommands: &["watch", "run"],
    ..NODE
};

const DENO: InterpreterOptions = InterpreterOptions {
    code: "",
    valued: "cL",
    long_code: &[],
    long_valued: &["--config", "--import-map", "--lock", "--cert", "--location", "--seed"],
    preload: &["--preload", "--env-file"],
    subcommands: &["run", "test", "check", "bench", "lint", "fmt", "serve", "inspect"],
    evaluating: &["eval"],
    ..NODE
};

const BUN: InterpreterOptions = InterpreterOptions {
    valued: "c",
    long_valued: &["--config", "--cwd"],
    preload: &["-r", "--preload", "--require", "--import", "--env-file"],
    subcommands: &["run", "test", "build"],
    ..NODE
};

const RUBY: InterpreterOptions = InterpreterOptions {
    family: Family::Ruby,
    code: "e",
    runs: "r",
    valued: "ICEF",
    long_valued: &["--encoding", "--external-encoding", "--internal-encoding"],
    ..NONE
};

const PERL: InterpreterOptions =
    InterpreterOptions { family: Family::Perl, code: "eE", valued: "I", ..NONE };
const PHP: InterpreterOptions =
    InterpreterOptions { family: Family::Php, code: "rBRE", valued: "dc", ..NONE };
const LUA: InterpreterOptions =
    InterpreterOptions { family: Family::Lua, code: "e", valued: "l", ..NONE };
const R: InterpreterOptions = InterpreterOptions { family: Family::R, code: "e", ..NONE };
const AWK: InterpreterOptions = InterpreterOptions {
    family: Family::Awk,
    is_filter: true,
    code: "e",
    valued: "vF",
    long_code: &["--source"],
    runs: "fi",
    long_valued: &["--assign", "--field-separator"],
    preload: &["--file", "--include"],
    ..NONE
};
const SED: InterpreterOptions = InterpreterOptions {
    family: Family::Sed,
    is_filter: true,
    code: "e",
    runs: "f",
    valued: "l",
    long_code: &["--expression"],
    preload: &["--file"],
    ..NONE
};

/// The syntax of a program's command line.
pub(super) enum Syntax {
    Options(&'static InterpreterOptions),
    /// `go run FILES`, which differs from all others.
    Go,
}

fn syntax_of_language(language: Language) -> Syntax {
    match language {
        Language::Python => Syntax::Options(&PYTHON),
        Language::Node => Syntax::Options(&NODE),
        Language::Ts => Syntax::Options(&TS_NODE),
        Language::Go => Syntax::Go,
        Language::Ruby => Syntax::Options(&RUBY),
    }
}

pub(super) fn syntax_of(program: &str) -> Option<Syntax> {
    if let Some(language) = Language::of_program(program) {
        return Some(syntax_of_language(language));
    }
    let options = match program {
        "deno" => &DENO,
        "bun" => &BUN,
        "perl" => &PERL,
        "php" => &PHP,
        "lua" | "luajit" => &LUA,
        "rscript" | "r" => &R,
        "awk" | "gawk" | "mawk" | "nawk" => &AWK,
        "sed" | "gsed" => &SED,
        _ => return None,
    };
    Some(Syntax::Options(options))
}

/// Returns true if an option of a language's programs names a file that runs before the script.
pub(super) fn preloads(language: Language) -> bool {
    match syntax_of_language(language) {
        Syntax::Options(options) => !options.preload.is_empty() || !options.runs.is_empty(),
        Syntax::Go => false,
    }
}
