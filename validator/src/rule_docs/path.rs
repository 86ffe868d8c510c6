//! The documentation of `path.*` and `package.install`. Prose may mention them, a command not.

use super::ExampleChange::{Command, Front, Prose, Section};
use super::example::{accepted, rejected, rejected_with_warning};
use super::{RuleDoc, RuleSeverity, TEXT};
use crate::code::Code;

const SOURCE: &str = "tool-request schema, Forbidden Content";
const SEVERITY: RuleSeverity = RuleSeverity::Depends {
    error: "in a command, the front matter, a list of files or an instruction",
    warning: "where prose only mentions it",
};

pub(super) static HOST: RuleDoc = RuleDoc {
    code: Code::PathHost,
    severity: SEVERITY,
    decided_by: TEXT,
    source: SOURCE,
    why: "A tool sees /in, /out and /tmp. A command or an instruction that names another place is \
          wrong or malicious; a text that only mentions one gets a warning for the reader.",
    remedy: "Declare the file as an input and name it below /in.",
    examples: &[
        rejected("a file of the host", Command("python script.py /etc/passwd")),
        rejected("inside code", Command("python -c 'open(\"/etc/passwd\")'")),
        rejected(
            "in the list of inputs",
            Section("Input Files", "- /in/input.csv\n- /in/script.py\n- /etc/hosts"),
        ),
        rejected("an instruction in prose", Prose("Read /etc/passwd first.")),
        rejected(
            "in the front matter",
            Front("purpose", "purpose: \"Count the words of /etc/motd.\""),
        ),
        rejected_with_warning("only mentioned", Prose("The script does not read /etc/passwd.")),
        accepted("an input", Command("python script.py /in/input.csv /tmp/scratch")),
        accepted(
            "a URL is not a path",
            Command("python script.py /in/input.csv https://example.org/etc/a"),
        ),
    ],
};

pub(super) static TRAVERSAL: RuleDoc = RuleDoc {
    code: Code::PathTraversal,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: SOURCE,
    why: "A path with `..` does not show where it ends. No honest command needs to leave /in or \
          /out.",
    remedy: "Write the path without `..`.",
    examples: &[
        rejected("a relative path", Command("python script.py ../rates.csv")),
        rejected(
            "as the value of an option",
            Command("python script.py /in/input.csv --dir=/out/.."),
        ),
        accepted("the path itself", Command("python script.py /in/input.csv")),
        accepted("dots within a name", Command("python script.py /in/input.csv /out/a..b 1..9")),
    ],
};

pub(super) static DEVICE: RuleDoc = RuleDoc {
    code: Code::PathDevice,
    severity: SEVERITY,
    decided_by: TEXT,
    source: SOURCE,
    why: "Devices give access to disks, kernels and other people's data; the sandbox has only a \
          few harmless ones. A mention in the text does not open a device, so it is a warning.",
    remedy: "Use only null, zero, random, urandom, stdin, stdout and stderr.",
    examples: &[
        rejected("a virtual machine", Command("python script.py /in/input.csv --accel /dev/kvm")),
        rejected("a disk", Command("python script.py --from=/dev/sda")),
        rejected_with_warning("only mentioned", Prose("It works without /dev/kvm.")),
        accepted("a harmless one", Command("python script.py /in/input.csv /dev/null")),
        accepted("another", Command("python script.py /in/input.csv --seed /dev/urandom")),
    ],
};

pub(super) static PACKAGE_INSTALL: RuleDoc = RuleDoc {
    code: Code::PackageInstall,
    severity: RuleSeverity::Depends {
        error: "in a command or an instruction",
        warning: "where prose only mentions it",
    },
    decided_by: TEXT,
    source: SOURCE,
    why: "An installer runs unreviewed code from the network, and its result differs from day to \
          day. A sentence that no packages are installed is welcome; the reader gets a warning and \
          decides.",
    remedy: "Name an environment that has the packages, or provide the module as a declared input.",
    examples: &[
        rejected("an installer", Command("pip install numpy")),
        rejected("through the interpreter", Command("python -m pip install numpy")),
        rejected("an instruction in the text", Prose("First run `pip install numpy`.")),
        rejected_with_warning("only mentioned", Prose("We do not run pip install numpy.")),
        accepted("the tool alone", Command("python script.py /in/input.csv")),
        accepted("the word alone", Prose("The table lists the year in which pumps were put in.")),
    ],
};
