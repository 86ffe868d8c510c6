//! The documentation of the rules for the form of `## Command`: one plain line, correctly quoted.

use super::ExampleChange::{Command, Situation};
use super::example::{accepted, rejected, rejected_with_warning};
use super::{POLICY, RuleDoc, RuleSeverity, TEXT};
use crate::code::Code;

const SOURCE: &str = "tool-request schema, Command";

pub(super) static EMPTY: RuleDoc = RuleDoc {
    code: Code::CommandEmpty,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: SOURCE,
    why: "A request without a command has nothing to approve or to run.",
    remedy: "Write the command on one line below the heading.",
    examples: &[
        rejected("nothing below the heading", Command("")),
        rejected("a name of no characters", Command("''")),
        accepted("a command", Command("python script.py /in/input.csv")),
        accepted("spaces around it do not matter", Command("  python script.py /in/input.csv\t")),
    ],
};

pub(super) static MULTIPLE_LINES: RuleDoc = RuleDoc {
    code: Code::CommandMultipleLines,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: SOURCE,
    why: "One reader takes a second line for a command, another for a remark. Remarks belong above \
          the first section.",
    remedy: "Leave exactly one line in this section.",
    examples: &[
        rejected(
            "two commands",
            Command("python script.py /in/input.csv\npython script.py /in/input.csv --plot"),
        ),
        rejected("a line continued", Command("python script.py /in/input.csv\n--plot")),
        accepted("one line", Command("python script.py /in/input.csv --plot")),
        accepted("empty lines around it", Command("\npython script.py /in/input.csv\n")),
    ],
};

pub(super) static CODE_FENCE: RuleDoc = RuleDoc {
    code: Code::CommandCodeFence,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: SOURCE,
    why: "The schema requires plain text. A fence can contain several lines and an info string, \
          and may end at another line than it seems.",
    remedy: "Remove the lines of the fence.",
    examples: &[
        rejected("backticks", Command("```sh\npython script.py /in/input.csv\n```")),
        rejected("tildes", Command("~~~\npython script.py /in/input.csv\n~~~")),
        accepted("plain text", Command("python script.py /in/input.csv")),
        accepted("backticks as data", Command("python script.py /in/input.csv --mark '```'")),
    ],
};

pub(super) static MARKUP: RuleDoc = RuleDoc {
    code: Code::CommandMarkup,
    severity: RuleSeverity::Depends {
        error: "around the command, and for elements that can hide the text after them",
        warning: "inside its words",
    },
    decided_by: TEXT,
    source: SOURCE,
    why: "Markup is displayed differently from its source, so the approver would not see the words \
          that are executed.",
    remedy: "Write the line as plain text: no list mark, heading, backticks or HTML around it. \
             Pass marked-up text in an input file.",
    examples: &[
        rejected("a list item", Command("- python script.py /in/input.csv")),
        rejected("in backticks", Command("`python script.py /in/input.csv`")),
        rejected("an HTML tag", Command("<b> python script.py /in/input.csv")),
        accepted("plain text", Command("python script.py /in/input.csv")),
        rejected(
            "an element that hides what follows",
            Command("python script.py /in/input.csv '<details hidden>'"),
        ),
        rejected_with_warning(
            "a comment, which a page hides",
            Command("python script.py /in/input.csv '<!--' --all '-->'"),
        ),
        rejected_with_warning("an entity", Command("python script.py /in/input.csv '&lt;b&gt;'")),
        rejected_with_warning(
            "a link",
            Command("python script.py /in/input.csv '[name](https://example.org/)'"),
        ),
        rejected_with_warning("a tag", Command("python script.py /in/input.csv '<b>'")),
        accepted(
            "marks as data",
            Command("python script.py /in/input.csv '# x' '- x' '[a]' 'a&b'"),
        ),
    ],
};

pub(super) static ASSIGNMENT: RuleDoc = RuleDoc {
    code: Code::CommandAssignment,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "docs/writing-requests.md",
    why: "In a shell, words such as `X=1` before the name set the environment. Here policy sets \
          the environment; without a shell they would be taken for the program.",
    remedy: "Remove it, or pass the value to the tool as an argument.",
    examples: &[
        rejected("one variable", Command("DEBUG=1 python script.py /in/input.csv")),
        rejected("added to", Command("PATH+=/tmp python script.py /in/input.csv")),
        accepted("an argument", Command("python script.py /in/input.csv debug=1")),
        accepted("an option", Command("python script.py /in/input.csv --debug=1")),
    ],
};

pub(super) static COMMENT: RuleDoc = RuleDoc {
    code: Code::CommandComment,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "docs/writing-requests.md",
    why: "A shell would drop the text after `#`; without a shell the tool would get it as \
          arguments. One of the readers would be wrong.",
    remedy: "Put remarks above the first section, or quote the `#`.",
    examples: &[
        rejected("a remark", Command("python script.py /in/input.csv # all columns")),
        rejected("switched off", Command("python script.py /in/input.csv #--plot")),
        accepted("quoted", Command("python script.py /in/input.csv '#1'")),
        accepted("inside a word", Command("python script.py /in/input.csv column#1")),
    ],
};

pub(super) static QUOTING: RuleDoc = RuleDoc {
    code: Code::CommandQuoting,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "docs/writing-requests.md; POSIX, Shell Command Language, Quoting",
    why: "If a quote does not end, the words of the command are not defined.",
    remedy: "Close the quote, or remove the last backslash.",
    examples: &[
        rejected("a quote that stays open", Command("python script.py /in/input.csv 'two words")),
        rejected("a backslash at the end", Command("python script.py /in/input.csv \\")),
        accepted("a closed quote", Command("python script.py /in/input.csv 'two words'")),
        accepted("a quote as data", Command("python script.py /in/input.csv \"it's\" \\'")),
    ],
};

pub(super) static NOT_PERMITTED: RuleDoc = RuleDoc {
    code: Code::CommandNotPermitted,
    severity: RuleSeverity::Error,
    decided_by: POLICY,
    source: "docs/policy.md",
    why: "Policy lists the words that may begin a command; each chooses a runtime. The word never \
          names a file of the host, so no other program can be reached.",
    remedy: "Begin the command with a word that the active policy lists (`public/policy.yaml` of \
             the spool; for `toolexec run`, `toolexec policy show embedded`), or name an \
             environment that has the program (`x-environment`).",
    examples: &[
        rejected(
            "not listed",
            Situation("The command begins with `ffmpeg`; policy lists `python` only."),
        ),
        rejected(
            "a path",
            Situation("The command begins with `./tool`; policy lists words, not files."),
        ),
        accepted("listed", Situation("The command begins with `python`, and policy lists it.")),
        accepted(
            "by another word",
            Situation("It begins with `python3`, listed for the same runtime."),
        ),
        accepted(
            "a program of an environment",
            Situation("The request names an environment with `ffmpeg`, and begins with it."),
        ),
    ],
};

pub(super) static UNDECLARED_FILE: RuleDoc = RuleDoc {
    code: Code::CommandUndeclaredFile,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "docs/writing-requests.md",
    why: "/in contains only the declared inputs. A command that names another file would fail, or \
          start a script whose digest is not approved.",
    remedy: "Declare the file under `inputs` with its sha256 and list it under `## Input Files`.",
    examples: &[
        rejected("a script that is not declared", Command("python other.py /in/input.csv")),
        rejected("a table that is not declared", Command("python script.py /in/rates.csv")),
        accepted("declared files", Command("python script.py /in/input.csv")),
        accepted(
            "an output needs no declaration here",
            Command("python script.py /out/output.json"),
        ),
    ],
};
