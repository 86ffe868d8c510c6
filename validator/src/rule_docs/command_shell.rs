//! The documentation of the rules about shell syntax in the command. No shell runs it; the rules
//! ensure that the line means the same to a reader and to the daemon.

use super::ExampleChange::{Command, Prose};
use super::example::{accepted, rejected};
use super::{RuleDoc, RuleSeverity, TEXT};
use crate::code::Code;

const SCHEMA: &str = "tool-request schema, Forbidden Content";
const PAGE: &str = "docs/writing-requests.md";

pub(super) static CHAINING: RuleDoc = RuleDoc {
    code: Code::CommandChaining,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: SCHEMA,
    why: "One request is one command, with one decision, one set of limits and one record.",
    remedy: "Write one request for each command, or a script that does both.",
    examples: &[
        rejected("a second command", Command("python script.py /in/input.csv; id")),
        rejected("on success", Command("python script.py /in/input.csv && id")),
        rejected("on failure", Command("python script.py /in/input.csv || id")),
        accepted("quoted, it is only data", Command("python script.py /in/input.csv 'a; b'")),
        accepted("escaped", Command("python script.py /in/input.csv a\\;b")),
    ],
};

pub(super) static PIPELINE: RuleDoc = RuleDoc {
    code: Code::CommandPipeline,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: SCHEMA,
    why: "A pipeline is several programs, and policy checks only the first.",
    remedy: "Let the tool do the second step; its stdout is kept anyway.",
    examples: &[
        rejected("into another program", Command("python script.py /in/input.csv | sort")),
        rejected("with its errors", Command("python script.py /in/input.csv |& sort")),
        accepted("a bar in quotes", Command("python script.py /in/input.csv 'a|b'")),
        accepted("the tool sorts by itself", Command("python script.py /in/input.csv --sort")),
    ],
};

pub(super) static REDIRECTION: RuleDoc = RuleDoc {
    code: Code::CommandRedirection,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: SCHEMA,
    why: "The tool itself reads from /in and writes to /out, and stdout and stderr are kept with \
          their digests. A redirection would need a shell.",
    remedy: "Name files by options of the tool; read stdout and stderr in the result.",
    examples: &[
        rejected("output", Command("python script.py /in/input.csv > /out/output.json")),
        rejected("input", Command("python script.py < /in/input.csv")),
        rejected("errors", Command("python script.py /in/input.csv 2>&1")),
        accepted("by options", Command("python script.py /in/input.csv --out /out/output.json")),
        accepted("a sign in quotes", Command("python script.py /in/input.csv 'x > 1'")),
    ],
};

pub(super) static HEREDOC: RuleDoc = RuleDoc {
    code: Code::CommandHeredoc,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Command",
    why: "A here-document hides a whole file in the command, without a digest.",
    remedy: "Put the text into a declared input file.",
    examples: &[
        rejected("a document", Command("python script.py << EOF")),
        rejected("a string", Command("python script.py <<< data")),
        accepted("a file", Command("python script.py /in/input.csv")),
        accepted("signs in quotes", Command("python script.py /in/input.csv '1 << 4'")),
    ],
};

pub(super) static SUBSTITUTION: RuleDoc = RuleDoc {
    code: Code::CommandSubstitution,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: SCHEMA,
    why: "A substitution runs another program first and puts its output into the command, so the \
          approved line is not the line that runs.",
    remedy: "Write the value itself; in single quotes the characters are only data.",
    examples: &[
        rejected("with parentheses", Command("python script.py /in/input.csv $(date)")),
        rejected(
            "with backquotes, in double quotes",
            Command("python script.py /in/input.csv \"`date`\""),
        ),
        rejected("of a process", Command("python script.py <(date)")),
        accepted("single quotes", Command("python script.py /in/input.csv '$(date)' '`date`'")),
        accepted("the value", Command("python script.py /in/input.csv 2026-02-09")),
    ],
};

pub(super) static EXPANSION: RuleDoc = RuleDoc {
    code: Code::CommandExpansion,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: PAGE,
    why: "The text does not show the value of a variable, `~` or a brace list, and nothing expands \
          it here. The tool would get the characters themselves.",
    remedy: "Write the value out, or put the word in single quotes.",
    examples: &[
        rejected("a variable", Command("python script.py /in/input.csv $USER")),
        rejected(
            "a variable in double quotes",
            Command("python script.py /in/input.csv \"${USER}\""),
        ),
        rejected("a list in braces", Command("python script.py /in/input.csv {a,b}")),
        accepted("single quotes", Command("python script.py /in/input.csv '$1'")),
        accepted("braces that nothing expands", Command("python script.py /in/input.csv {} {a}")),
    ],
};

pub(super) static GLOB: RuleDoc = RuleDoc {
    code: Code::CommandGlob,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: PAGE,
    why: "A pattern depends on the files that exist at the time. The inputs are a closed list, so \
          they can be named.",
    remedy: "Name the files, or quote a pattern that is meant for the tool.",
    examples: &[
        rejected("all files", Command("python script.py *")),
        rejected("one character", Command("python script.py /in/input.csv 2026-0?")),
        rejected("a choice", Command("python script.py /in/input.csv [ab].csv")),
        accepted("quoted", Command("python script.py /in/input.csv --columns 'a*'")),
        accepted("named", Command("python script.py /in/input.csv")),
    ],
};

pub(super) static SUBSHELL: RuleDoc = RuleDoc {
    code: Code::CommandSubshell,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: PAGE,
    why: "An unquoted parenthesis opens a subshell, or is a mistake in quoting. It is not a word \
          of one command.",
    remedy: "Put the word in single quotes.",
    examples: &[
        rejected("around the command", Command("(python script.py /in/input.csv)")),
        rejected("code without quotes", Command("python -c print(1)")),
        accepted("code in quotes", Command("python -c 'print(1)'")),
        accepted("an argument in quotes", Command("python script.py /in/input.csv 'f(x)'")),
    ],
};

pub(super) static BACKGROUND: RuleDoc = RuleDoc {
    code: Code::CommandBackground,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: PAGE,
    why: "A run ends with its command. A process left in the background would have no limits and \
          no record.",
    remedy: "Remove the `&`, or quote it.",
    examples: &[
        rejected("sent to the background", Command("python script.py /in/input.csv &")),
        rejected("and another", Command("python script.py /in/input.csv & id")),
        accepted("in quotes", Command("python script.py /in/input.csv 'a&b'")),
        accepted("escaped", Command("python script.py /in/input.csv a\\&b")),
    ],
};

pub(super) static SHELL: RuleDoc = RuleDoc {
    code: Code::CommandShell,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: SCHEMA,
    why: "Policy decides by the first word. If it is a shell, or a program that starts another, it \
          does not show what runs.",
    remedy: "Begin with the interpreter itself; limits and environment come from the request and \
             the policy.",
    examples: &[
        rejected("a shell", Command("bash -c 'python script.py /in/input.csv'")),
        rejected("a wrapper", Command("timeout 5 python script.py /in/input.csv")),
        rejected("a shell builtin", Command("exec python script.py /in/input.csv")),
        accepted("the interpreter", Command("python script.py /in/input.csv")),
        accepted("the word as an argument", Command("python script.py /in/input.csv bash")),
    ],
};

pub(super) static PRIVILEGE: RuleDoc = RuleDoc {
    code: Code::CommandPrivilege,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Forbidden Content",
    why: "A tool has the rights of its sandbox and no others. A text that asks its reader to use \
          `sudo` or to disable a confinement asks for rights that no approval gives.",
    remedy: "Remove it. A tool that needs more rights cannot run here.",
    examples: &[
        rejected("a program that gives rights", Prose("Use sudo.")),
        rejected("another user", Prose("Run the script as root.")),
        rejected("an option of a container", Prose("Use --privileged.")),
        rejected("without a confinement", Prose("Disable seccomp before the run.")),
        accepted("only a mention", Prose("It runs without sudo.")),
        accepted("another root", Prose("The square root of the sum is taken.")),
    ],
};
