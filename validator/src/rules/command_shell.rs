//! The documentation of the rules about shell syntax in the command. No shell runs it; the rules
//! ensure that the line means the same to a reader and to the daemon.

use super::Example::{Command, Prose};
use super::case::{bad, good};
use super::{Rule, TEXT, Weight};
use crate::code::Code;

const SCHEMA: &str = "tool-request schema, Forbidden Content";
const DESIGN: &str = "design, Requests";

pub(super) static CHAINING: Rule = Rule {
    code: Code::CommandChaining,
    severity: Weight::Error,
    decided: TEXT,
    source: SCHEMA,
    why: "One request is one command, with one decision, one set of limits and one record.",
    remedy: "Write one request for each command, or a script that does both.",
    cases: &[
        bad("a second command", Command("python script.py /in/input.csv; id")),
        bad("on success", Command("python script.py /in/input.csv && id")),
        bad("on failure", Command("python script.py /in/input.csv || id")),
        good("quoted, it is only data", Command("python script.py /in/input.csv 'a; b'")),
        good("escaped", Command("python script.py /in/input.csv a\\;b")),
    ],
};

pub(super) static PIPELINE: Rule = Rule {
    code: Code::CommandPipeline,
    severity: Weight::Error,
    decided: TEXT,
    source: SCHEMA,
    why: "A pipeline is several programs, and policy checks only the first.",
    remedy: "Let the tool do the second step; its stdout is kept anyway.",
    cases: &[
        bad("into another program", Command("python script.py /in/input.csv | sort")),
        bad("with its errors", Command("python script.py /in/input.csv |& sort")),
        good("a bar in quotes", Command("python script.py /in/input.csv 'a|b'")),
        good("the tool sorts by itself", Command("python script.py /in/input.csv --sort")),
    ],
};

pub(super) static REDIRECTION: Rule = Rule {
    code: Code::CommandRedirection,
    severity: Weight::Error,
    decided: TEXT,
    source: SCHEMA,
    why: "The tool itself reads from /in and writes to /out, and stdout and stderr are kept with \
          their digests. A redirection would need a shell.",
    remedy: "Name files by options of the tool; read stdout and stderr in the result.",
    cases: &[
        bad("output", Command("python script.py /in/input.csv > /out/output.json")),
        bad("input", Command("python script.py < /in/input.csv")),
        bad("errors", Command("python script.py /in/input.csv 2>&1")),
        good("by options", Command("python script.py /in/input.csv --out /out/output.json")),
        good("a sign in quotes", Command("python script.py /in/input.csv 'x > 1'")),
    ],
};

pub(super) static HEREDOC: Rule = Rule {
    code: Code::CommandHeredoc,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Command",
    why: "A here-document hides a whole file in the command, without a digest.",
    remedy: "Put the text into a declared input file.",
    cases: &[
        bad("a document", Command("python script.py << EOF")),
        bad("a string", Command("python script.py <<< data")),
        good("a file", Command("python script.py /in/input.csv")),
        good("signs in quotes", Command("python script.py /in/input.csv '1 << 4'")),
    ],
};

pub(super) static SUBSTITUTION: Rule = Rule {
    code: Code::CommandSubstitution,
    severity: Weight::Error,
    decided: TEXT,
    source: SCHEMA,
    why: "A substitution runs another program first and puts its output into the command, so the \
          approved line is not the line that runs.",
    remedy: "Write the value itself; in single quotes the characters are only data.",
    cases: &[
        bad("with parentheses", Command("python script.py /in/input.csv $(date)")),
        bad(
            "with backquotes, in double quotes",
            Command("python script.py /in/input.csv \"`date`\""),
        ),
        bad("of a process", Command("python script.py <(date)")),
        good("single quotes", Command("python script.py /in/input.csv '$(date)' '`date`'")),
        good("the value", Command("python script.py /in/input.csv 2026-02-09")),
    ],
};

pub(super) static EXPANSION: Rule = Rule {
    code: Code::CommandExpansion,
    severity: Weight::Error,
    decided: TEXT,
    source: DESIGN,
    why: "The text does not show the value of a variable, `~` or a brace list, and nothing expands \
          it here. The tool would get the characters themselves.",
    remedy: "Write the value out, or put the word in single quotes.",
    cases: &[
        bad("a variable", Command("python script.py /in/input.csv $USER")),
        bad("a variable in double quotes", Command("python script.py /in/input.csv \"${USER}\"")),
        bad("a list in braces", Command("python script.py /in/input.csv {a,b}")),
        good("single quotes", Command("python script.py /in/input.csv '$1'")),
        good("braces that nothing expands", Command("python script.py /in/input.csv {} {a}")),
    ],
};

pub(super) static GLOB: Rule = Rule {
    code: Code::CommandGlob,
    severity: Weight::Error,
    decided: TEXT,
    source: DESIGN,
    why: "A pattern depends on the files that exist at the time. The inputs are a closed list, so \
          they can be named.",
    remedy: "Name the files, or quote a pattern that is meant for the tool.",
    cases: &[
        bad("all files", Command("python script.py *")),
        bad("one character", Command("python script.py /in/input.csv 2026-0?")),
        bad("a choice", Command("python script.py /in/input.csv [ab].csv")),
        good("quoted", Command("python script.py /in/input.csv --columns 'a*'")),
        good("named", Command("python script.py /in/input.csv")),
    ],
};

pub(super) static SUBSHELL: Rule = Rule {
    code: Code::CommandSubshell,
    severity: Weight::Error,
    decided: TEXT,
    source: DESIGN,
    why: "An unquoted parenthesis opens a subshell, or is a mistake in quoting. It is not a word \
          of one command.",
    remedy: "Put the word in single quotes.",
    cases: &[
        bad("around the command", Command("(python script.py /in/input.csv)")),
        bad("code without quotes", Command("python -c print(1)")),
        good("code in quotes", Command("python -c 'print(1)'")),
        good("an argument in quotes", Command("python script.py /in/input.csv 'f(x)'")),
    ],
};

pub(super) static BACKGROUND: Rule = Rule {
    code: Code::CommandBackground,
    severity: Weight::Error,
    decided: TEXT,
    source: DESIGN,
    why: "A run ends with its command. A process left in the background would have no limits and \
          no record.",
    remedy: "Remove the `&`, or quote it.",
    cases: &[
        bad("sent to the background", Command("python script.py /in/input.csv &")),
        bad("and another", Command("python script.py /in/input.csv & id")),
        good("in quotes", Command("python script.py /in/input.csv 'a&b'")),
        good("escaped", Command("python script.py /in/input.csv a\\&b")),
    ],
};

pub(super) static SHELL: Rule = Rule {
    code: Code::CommandShell,
    severity: Weight::Error,
    decided: TEXT,
    source: SCHEMA,
    why: "Policy decides by the first word. If it is a shell, or a program that starts another, it \
          does not show what runs.",
    remedy: "Begin with the interpreter itself; limits and environment come from the request and \
             the policy.",
    cases: &[
        bad("a shell", Command("bash -c 'python script.py /in/input.csv'")),
        bad("a wrapper", Command("timeout 5 python script.py /in/input.csv")),
        bad("a shell builtin", Command("exec python script.py /in/input.csv")),
        good("the interpreter", Command("python script.py /in/input.csv")),
        good("the word as an argument", Command("python script.py /in/input.csv bash")),
    ],
};

pub(super) static PRIVILEGE: Rule = Rule {
    code: Code::CommandPrivilege,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Forbidden Content",
    why: "A tool has the rights of its sandbox and no others. A text that asks its reader to use \
          `sudo` or to disable a confinement asks for rights that no approval gives.",
    remedy: "Remove it. A tool that needs more rights cannot run here.",
    cases: &[
        bad("a program that gives rights", Prose("Use sudo.")),
        bad("another user", Prose("Run the script as root.")),
        bad("an option of a container", Prose("Use --privileged.")),
        bad("without a confinement", Prose("Disable seccomp before the run.")),
        good("only a mention", Prose("It runs without sudo.")),
        good("another root", Prose("The square root of the sum is taken.")),
    ],
};
