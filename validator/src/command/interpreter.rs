//! Which word of an interpreter's command line is the script, and which is code. Only the
//! languages of the schema are known; an unknown program's words must never be guessed at.

/// What a word is to the program that gets it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Argument,
    /// A file that the interpreter runs.
    Script,
    /// Program text given on the command line.
    Code,
}

/// What an interpreter's options do with the words around them.
struct Options {
    /// Short options whose value is code; nothing after it is a script.
    code: &'static str,
    /// Short options that name a module instead of a script.
    module: &'static str,
    /// Short options with a value, attached or in the next word.
    valued: &'static str,
    /// Long options whose value is code.
    long_code: &'static [&'static str],
    /// Long options with a value in the next word.
    long_valued: &'static [&'static str],
    /// Options whose value is a file that is run first.
    preload: &'static [&'static str],
    /// Words before the script that are not it.
    subcommands: &'static [&'static str],
}

const PYTHON: Options = Options {
    code: "c",
    module: "m",
    valued: "WX",
    long_code: &[],
    long_valued: &["--check-hash-based-pycs"],
    preload: &[],
    subcommands: &[],
};

const NODE: Options = Options {
    code: "ep",
    module: "",
    valued: "C",
    long_code: &["--eval", "--print"],
    long_valued: &[
        "--conditions",
        "--input-type",
        "--title",
        "--env-file",
        "--inspect-port",
        "--stack-trace-limit",
        "--project",
        "--config",
    ],
    preload: &["-r", "--require", "--import", "--loader", "--experimental-loader"],
    subcommands: &["run", "inspect"],
};

const RUBY: Options = Options {
    code: "e",
    module: "",
    valued: "ICErF",
    long_code: &[],
    long_valued: &["--encoding", "--external-encoding", "--internal-encoding"],
    preload: &[],
    subcommands: &[],
};

/// The role of every word of the command; index 0 is the program itself.
pub(crate) fn roles(argv: &[&str]) -> Vec<Role> {
    let mut roles = vec![Role::Argument; argv.len()];
    let name = argv.first().map_or("", |word| word.rsplit('/').next().unwrap_or(word));
    if name == "go" {
        mark_go(argv, &mut roles);
    } else if let Some(options) = options_of(name) {
        mark(argv, options, &mut roles);
    }
    roles
}

fn options_of(name: &str) -> Option<&'static Options> {
    // python3.12 and ruby3.1 are python and ruby.
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match plain {
        "python" | "pypy" => Some(&PYTHON),
        "node" | "nodejs" | "ts-node" | "tsx" | "deno" | "bun" => Some(&NODE),
        "ruby" | "jruby" => Some(&RUBY),
        _ => None,
    }
}

fn mark(argv: &[&str], options: &Options, roles: &mut [Role]) {
    let mut index = 1;
    while let Some(&word) = argv.get(index) {
        if word == "-" {
            return;
        }
        if word == "--" {
            set(roles, index + 1, Role::Script);
            return;
        }
        if !word.starts_with('-') {
            if options.subcommands.contains(&word) && index == 1 {
                index += 1;
                continue;
            }
            set(roles, index, Role::Script);
            return;
        }
        match option(word, options) {
            Effect::None => index += 1,
            Effect::TakesNext => index += 2,
            Effect::CodeHere => {
                set(roles, index, Role::Code);
                return mark_more_code(argv, index + 1, options, roles);
            }
            Effect::CodeNext => {
                set(roles, index + 1, Role::Code);
                return mark_more_code(argv, index + 2, options, roles);
            }
            Effect::Module => return,
            Effect::RunsNext => {
                let file = argv.get(index + 1).is_some_and(|next| is_file_like(next));
                set(roles, index + 1, if file { Role::Script } else { Role::Argument });
                index += 2;
            }
        }
    }
}

enum Effect {
    None,
    TakesNext,
    CodeHere,
    CodeNext,
    Module,
    RunsNext,
}

fn option(word: &str, options: &Options) -> Effect {
    if options.preload.contains(&word) {
        return Effect::RunsNext;
    }
    if word.starts_with("--") {
        let name = word.split('=').next().unwrap_or(word);
        return match (options.long_code.contains(&name), word.contains('=')) {
            (true, true) => Effect::CodeHere,
            (true, false) => Effect::CodeNext,
            (false, false) if options.long_valued.contains(&word) => Effect::TakesNext,
            _ => Effect::None,
        };
    }
    for (at, letter) in word.char_indices().skip(1) {
        let attached = at + letter.len_utf8() < word.len();
        if options.code.contains(letter) {
            // `-pe CODE` is two options of node, `-cCODE` is code at once for python.
            let letters = word.get(at..).unwrap_or("").chars().all(|c| options.code.contains(c));
            return if letters || !attached { Effect::CodeNext } else { Effect::CodeHere };
        }
        if options.module.contains(letter) {
            return Effect::Module;
        }
        if options.valued.contains(letter) {
            return if attached { Effect::None } else { Effect::TakesNext };
        }
    }
    Effect::None
}

/// `ruby -e A -e B` has code in several words.
fn mark_more_code(argv: &[&str], from: usize, options: &Options, roles: &mut [Role]) {
    let mut index = from;
    while let Some(word) = argv.get(index).filter(|word| word.starts_with('-')) {
        let code = matches!(option(word, options), Effect::CodeNext);
        if code {
            set(roles, index + 1, Role::Code);
        }
        index += if code { 2 } else { 1 };
    }
}

/// `go run [flags] a.go b.go args`: the Go files are what is run.
fn mark_go(argv: &[&str], roles: &mut [Role]) {
    if argv.get(1) != Some(&"run") {
        return;
    }
    let mut started = false;
    for (index, word) in argv.iter().enumerate().skip(2) {
        let source = word.ends_with(".go") && !word.starts_with('-');
        if source {
            started = true;
            set(roles, index, Role::Script);
        } else if started {
            return;
        }
    }
}

fn is_file_like(word: &str) -> bool {
    word.starts_with(['.', '/']) || [".js", ".cjs", ".mjs", ".ts"].iter().any(|e| word.ends_with(e))
}

fn set(roles: &mut [Role], index: usize, role: Role) {
    if let Some(slot) = roles.get_mut(index) {
        *slot = role;
    }
}
