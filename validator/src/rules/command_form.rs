//! The documentation of the rules for the form of `## Command`: one plain line, correctly quoted.

use super::Example::{Command, Words};
use super::case::{bad, good, warned};
use super::{POLICY, Rule, TEXT, Weight};
use crate::code::Code;

const SOURCE: &str = "tool-request schema, Command";

pub(super) static EMPTY: Rule = Rule {
    code: Code::CommandEmpty,
    severity: Weight::Error,
    decided: TEXT,
    source: SOURCE,
    why: "A request without a command has nothing to approve or to run.",
    remedy: "Write the command on one line below the heading.",
    cases: &[
        bad("nothing below the heading", Command("")),
        bad("a name of no characters", Command("''")),
        good("a command", Command("python script.py /in/input.csv")),
        good("spaces around it do not matter", Command("  python script.py /in/input.csv\t")),
    ],
};

pub(super) static MULTIPLE_LINES: Rule = Rule {
    code: Code::CommandMultipleLines,
    severity: Weight::Error,
    decided: TEXT,
    source: SOURCE,
    why: "One reader takes a second line for a command, another for a remark. Remarks belong above \
          the first section.",
    remedy: "Leave exactly one line in this section.",
    cases: &[
        bad(
            "two commands",
            Command("python script.py /in/input.csv\npython script.py /in/input.csv --plot"),
        ),
        bad("a line continued", Command("python script.py /in/input.csv\n--plot")),
        good("one line", Command("python script.py /in/input.csv --plot")),
        good("empty lines around it", Command("\npython script.py /in/input.csv\n")),
    ],
};

pub(super) static CODE_FENCE: Rule = Rule {
    code: Code::CommandCodeFence,
    severity: Weight::Error,
    decided: TEXT,
    source: SOURCE,
    why: "The schema requires plain text. A fence can contain several lines and an info string, \
          and may end at another line than it seems.",
    remedy: "Remove the lines of the fence.",
    cases: &[
        bad("backticks", Command("```sh\npython script.py /in/input.csv\n```")),
        bad("tildes", Command("~~~\npython script.py /in/input.csv\n~~~")),
        good("plain text", Command("python script.py /in/input.csv")),
        good("backticks as data", Command("python script.py /in/input.csv --mark '```'")),
    ],
};

pub(super) static MARKUP: Rule = Rule {
    code: Code::CommandMarkup,
    severity: Weight::Depends {
        error: "around the command, and for elements that can hide the text after them",
        warning: "inside its words",
    },
    decided: TEXT,
    source: SOURCE,
    why: "Markup is displayed differently from its source, so the approver would not see the words \
          that are executed.",
    remedy: "Write the line as plain text: no list mark, heading, backticks or HTML around it. \
             Pass marked-up text in an input file.",
    cases: &[
        bad("a list item", Command("- python script.py /in/input.csv")),
        bad("in backticks", Command("`python script.py /in/input.csv`")),
        bad("an HTML tag", Command("<b> python script.py /in/input.csv")),
        good("plain text", Command("python script.py /in/input.csv")),
        bad(
            "an element that hides what follows",
            Command("python script.py /in/input.csv '<details hidden>'"),
        ),
        warned(
            "a comment, which a page hides",
            Command("python script.py /in/input.csv '<!--' --all '-->'"),
        ),
        warned("an entity", Command("python script.py /in/input.csv '&lt;b&gt;'")),
        warned("a link", Command("python script.py /in/input.csv '[name](https://example.org/)'")),
        warned("a tag", Command("python script.py /in/input.csv '<b>'")),
        good("marks as data", Command("python script.py /in/input.csv '# x' '- x' '[a]' 'a&b'")),
    ],
};

pub(super) static ASSIGNMENT: Rule = Rule {
    code: Code::CommandAssignment,
    severity: Weight::Error,
    decided: TEXT,
    source: "design, Requests",
    why: "In a shell, words such as `X=1` before the name set the environment. Here policy sets \
          the environment; without a shell they would be taken for the program.",
    remedy: "Remove it, or pass the value to the tool as an argument.",
    cases: &[
        bad("one variable", Command("DEBUG=1 python script.py /in/input.csv")),
        bad("added to", Command("PATH+=/tmp python script.py /in/input.csv")),
        good("an argument", Command("python script.py /in/input.csv debug=1")),
        good("an option", Command("python script.py /in/input.csv --debug=1")),
    ],
};

pub(super) static COMMENT: Rule = Rule {
    code: Code::CommandComment,
    severity: Weight::Error,
    decided: TEXT,
    source: "design, Requests",
    why: "A shell would drop the text after `#`; without a shell the tool would get it as \
          arguments. One of the readers would be wrong.",
    remedy: "Put remarks above the first section, or quote the `#`.",
    cases: &[
        bad("a remark", Command("python script.py /in/input.csv # all columns")),
        bad("switched off", Command("python script.py /in/input.csv #--plot")),
        good("quoted", Command("python script.py /in/input.csv '#1'")),
        good("inside a word", Command("python script.py /in/input.csv column#1")),
    ],
};

pub(super) static QUOTING: Rule = Rule {
    code: Code::CommandQuoting,
    severity: Weight::Error,
    decided: TEXT,
    source: "design, Requests; POSIX, Shell Command Language, Quoting",
    why: "If a quote does not end, the words of the command are not defined.",
    remedy: "Close the quote, or remove the last backslash.",
    cases: &[
        bad("a quote that stays open", Command("python script.py /in/input.csv 'two words")),
        bad("a backslash at the end", Command("python script.py /in/input.csv \\")),
        good("a closed quote", Command("python script.py /in/input.csv 'two words'")),
        good("a quote as data", Command("python script.py /in/input.csv \"it's\" \\'")),
    ],
};

pub(super) static NOT_PERMITTED: Rule = Rule {
    code: Code::CommandNotPermitted,
    severity: Weight::Error,
    decided: POLICY,
    source: "design, Policy",
    why: "Policy lists the words that may begin a command; each chooses a runtime. The word never \
          names a file of the host, so no other program can be reached.",
    remedy: "Begin the command with a word that the active policy lists (`public/policy.yaml` of \
             the spool; for `toolexec run`, `toolexec policy show embedded`).",
    cases: &[
        bad("not listed", Words("The command begins with `ffmpeg`; policy lists `python` only.")),
        bad("a path", Words("The command begins with `./tool`; policy lists words, not files.")),
        good("listed", Words("The command begins with `python`, and policy lists it.")),
        good("by another word", Words("It begins with `python3`, listed for the same runtime.")),
    ],
};

pub(super) static UNDECLARED_FILE: Rule = Rule {
    code: Code::CommandUndeclaredFile,
    severity: Weight::Error,
    decided: TEXT,
    source: "design, Requests",
    why: "/in contains only the declared inputs. A command that names another file would fail, or \
          start a script whose digest is not approved.",
    remedy: "Declare the file under `inputs` with its sha256 and list it under `## Input Files`.",
    cases: &[
        bad("a script that is not declared", Command("python other.py /in/input.csv")),
        bad("a table that is not declared", Command("python script.py /in/rates.csv")),
        good("declared files", Command("python script.py /in/input.csv")),
        good("an output needs no declaration here", Command("python script.py /out/output.json")),
    ],
};
