//! The documentation of `standing.*`: the form of a standing approval. It bounds every run that it
//! admits, so anything that could be read in two ways is refused.

use super::ExampleChange::{All, FileName, Front, Section};
use super::example::{accepted, rejected};
use super::{Base, RuleDoc, RuleSeverity, TEXT};
use crate::code::Code;

const SOURCE: &str = "docs/standing-approvals.md";

const fn error(
    code: Code,
    why: &'static str,
    remedy: &'static str,
    examples: &'static [super::RuleExample],
) -> RuleDoc {
    let (severity, decided_by, source) = (RuleSeverity::Error, TEXT, SOURCE);
    RuleDoc { code, severity, decided_by, source, why, remedy, examples }
}

const fn bad(caption: &'static str, change: super::ExampleChange) -> super::RuleExample {
    rejected(caption, change).of(Base::Standing)
}

const fn good(caption: &'static str, change: super::ExampleChange) -> super::RuleExample {
    accepted(caption, change).of(Base::Standing)
}

pub(super) static ID: RuleDoc = error(
    Code::StandingId,
    "Requests and records name the standing approval by its id, which is also the name of its file.",
    "Write the form `SA-YYYYMMDD-HHMMSSZ-<slug>` with the time when it was made.",
    &[
        bad("the id of a request", Front("standing_id", "standing_id: \"TR-20260209-160501Z-a\"")),
        bad("a dot in the slug", Front("standing_id", "standing_id: \"SA-20260209-160501Z-a.b\"")),
        good("a slug of words", Front("purpose", "purpose: \"Means of one column.\"")),
        good(
            "another slug",
            All(&[
                Front("standing_id", "standing_id: \"SA-20260209-160501Z-m_2\""),
                FileName("SA-20260209-160501Z-m_2.md"),
            ]),
        ),
    ],
);

pub(super) static AGENTS: RuleDoc = error(
    Code::StandingAgents,
    "Every agent that may use the approval is named by the person who signs it. A pattern would \
     admit agents that do not exist yet.",
    "List the exact name of each agent, once.",
    &[
        bad("no agent", Front("agents", "agents: []")),
        bad("a pattern", Front("agents", "agents: [\"core*\"]")),
        bad("named twice", Front("agents", "agents: [\"core\", \"core\"]")),
        good("one agent", Front("agents", "agents: [\"core\"]")),
        good("two agents", Front("agents", "agents: [\"core\", \"desk\"]")),
    ],
);

pub(super) static TIME: RuleDoc = error(
    Code::StandingTime,
    "A standing approval ends by itself, so it needs an end after its beginning.",
    "Write an end after the beginning; policy limits the days between them.",
    &[
        bad(
            "it ends before it begins",
            Front("not_after_utc", "not_after_utc: \"2026-02-09T16:00:00Z\""),
        ),
        bad(
            "it ends as it begins",
            Front("not_after_utc", "not_after_utc: \"2026-02-09T16:12:00Z\""),
        ),
        good("a week", Front("not_after_utc", "not_after_utc: \"2026-02-16T00:00:00Z\"")),
        good("a second", Front("not_after_utc", "not_after_utc: \"2026-02-09T16:12:01Z\"")),
    ],
);

pub(super) static USES: RuleDoc = error(
    Code::StandingUses,
    "The number of uses bounds what a wrong approval can do. Every number in the document is a \
     whole number in one spelling.",
    "Write whole numbers of at least 1, and no more uses an hour than in all.",
    &[
        bad("no use", Front("uses_max", "uses_max: 0")),
        bad("more an hour than in all", Front("uses_per_hour_max", "uses_per_hour_max: 201")),
        bad("a fraction", Front("uses_max", "uses_max: 1.5")),
        good("all within an hour", Front("uses_per_hour_max", "uses_per_hour_max: 200")),
        good(
            "one use",
            All(&[
                Front("uses_max", "uses_max: 1"),
                Front("uses_per_hour_max", "uses_per_hour_max: 1"),
            ]),
        ),
    ],
);

/// An admitted and a refused example: the program, the last word of each, and the files of the second.
macro_rules! examples {
    ($program:literal, $admitted:literal, $refused:literal, $files:literal) => {
        concat!(
            "examples:\n  - admitted: true\n    words: [",
            $program,
            ", means.py, /in/sales-1.csv, ",
            $admitted,
            "]\n    files: [sales-1.csv]\n  - admitted: false\n    words: [",
            $program,
            ", means.py, /in/sales-1.csv, ",
            $refused,
            "]\n    files: [",
            $files,
            "]"
        )
    };
}

/// The inputs of the base, with another name or kind of the slot's files.
macro_rules! inputs {
    ($name:literal, $kind:literal) => {
        concat!(
            "inputs:\n  - name: \"means.py\"\n    sha256: \"«a1 × 32»\"\n  - slot: \"table\"\n    \
             name: \"",
            $name,
            "\"\n    kind: \"",
            $kind,
            "\"\n    count: [1, 1]\n    bytes_max: 9"
        )
    };
}

pub(super) static INPUT: RuleDoc = error(
    Code::StandingInput,
    "A slot takes files of any content, so its names and sizes are all that bounds them. A name \
     that fits two entries could replace a fixed file.",
    "Give each slot a plain name with at most one `*`, and names that fit no other entry.",
    &[
        bad("two stars", Front("inputs", inputs!("*-*.csv", "file"))),
        bad("a directory", Front("inputs", inputs!("a/*.csv", "file"))),
        bad("the name of the fixed file", Front("inputs", inputs!("Means.py", "file"))),
        bad("a folder", Front("inputs", inputs!("sales-*.csv", "tree"))),
        good("a pattern", Front("inputs", inputs!("sales-*.csv", "file"))),
        good("one name", Front("inputs", inputs!("sales-1.csv", "file"))),
    ],
);

pub(super) static PARAMETER: RuleDoc = error(
    Code::StandingParameter,
    "A parameter is all that an agent may choose. Its values are numbers, listed words or a known \
     form of text; a pattern of the author's own could admit more than it seems to.",
    "Declare each parameter once, with one kind of value, and use it in the command.",
    &[
        bad(
            "a pattern",
            Front(
                "parameters",
                "parameters:\n  - {name: \"last\", text: \"[a-z]*\", chars_max: 9}",
            ),
        ),
        bad(
            "an option as a choice",
            Front("parameters", "parameters:\n  - {name: \"last\", choice: [\"--all\"]}"),
        ),
        bad("not declared", Front("parameters", "parameters: []")),
        good("numbers", Front("parameters", "parameters:\n  - {name: \"last\", integer: [1, 99]}")),
        good(
            "words",
            Front("parameters", "parameters:\n  - {name: \"last\", choice: [\"7\", \"90\"]}"),
        ),
    ],
);

pub(super) static WORD: RuleDoc = error(
    Code::StandingWord,
    "The command is a list of words. Two values in one word, or text around one, could be split in \
     more than one way.",
    "Write one word a line, a value alone or after a beginning that ends in `=`.",
    &[
        bad(
            "two values in one word",
            Section("Command", "- python\n- means.py\n- {in:table}\n- {last}{last}"),
        ),
        bad(
            "text after a value",
            Section("Command", "- python\n- means.py\n- {in:table}\n- {last}d"),
        ),
        bad("a line of prose", Section("Command", "python means.py {in:table} {last}")),
        good("each alone", Section("Command", "- python\n- means.py\n- {in:table}\n- {last}")),
        good(
            "after a beginning",
            All(&[
                Section("Command", "- python\n- means.py\n- {in:table}\n- --last={last}"),
                Front("examples", examples!("python", "--last=7", "--last=0", "sales-1.csv")),
            ]),
        ),
    ],
);

pub(super) static PROGRAM: RuleDoc = error(
    Code::StandingProgram,
    "The program decides what every other word means, so no agent may choose it.",
    "Write the program as the first word.",
    &[
        bad("a parameter", Section("Command", "- {last}\n- means.py\n- {in:table}\n- {last}")),
        bad("a file", Section("Command", "- {in:table}\n- means.py\n- {in:table}\n- {last}")),
        good("a name", Section("Command", "- python\n- means.py\n- {in:table}\n- {last}")),
        good(
            "another name",
            All(&[
                Section("Command", "- python3\n- means.py\n- {in:table}\n- {last}"),
                Front("examples", examples!("python3", "7", "0", "sales-1.csv")),
            ]),
        ),
    ],
);

pub(super) static CODE: RuleDoc = error(
    Code::StandingCode,
    "A file of any content that an interpreter runs or imports is a program that no person has read.",
    "Fix the program by its digest and give other files another extension, or sign that any code may \
     run: `runs_code_of_inputs: true` with a risk of at least medium.",
    &[
        bad("a module may be imported", Front("inputs", inputs!("sales-*", "file"))),
        bad("any code at a low risk", Front("runs_code_of_inputs", "runs_code_of_inputs: true")),
        good("data", Front("runs_code_of_inputs", "runs_code_of_inputs: false")),
        good(
            "any code, and its risk",
            All(&[
                Front("runs_code_of_inputs", "runs_code_of_inputs: true"),
                Front("risk", "risk: \"medium\""),
            ]),
        ),
    ],
);

pub(super) static EFFECT: RuleDoc = error(
    Code::StandingEffect,
    "Bounds are easy to sign and hard to imagine. The author says in words what the widest run can do.",
    "Say what may be read, written and reached, how often and until when.",
    &[
        bad("nothing", Section("Widest Effect", "")),
        bad("blank lines", Section("Widest Effect", "\n\n")),
        good("one sentence", Section("Widest Effect", "Any table of that name, 20 an hour.")),
        good("two lines", Section("Widest Effect", "- Any table of that name.\n- 20 an hour.")),
    ],
);

const ADMITTED: &str = "examples:\n  - admitted: true\n    words: [python, means.py, \
                        /in/sales-1.csv, 7]\n    files: [sales-1.csv]";

pub(super) static EXAMPLE: RuleDoc = error(
    Code::StandingExample,
    "An example shows the signer what the bounds mean. One that is judged otherwise shows a wrong bound \
     before it is signed.",
    "Give an admitted and a refused command, and correct the bounds until both are judged so.",
    &[
        bad("none is refused", Front("examples", ADMITTED)),
        bad(
            "one is judged otherwise",
            Front("examples", examples!("python", "7", "8", "sales-1.csv")),
        ),
        good("both kinds", Front("examples", examples!("python", "7", "-1", "sales-1.csv"))),
        good(
            "a file that is not foreseen",
            Front("examples", examples!("python", "7", "7", "sales-1.csv, pandas.py")),
        ),
    ],
);
