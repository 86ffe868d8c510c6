//! The documentation of `path.*` and `package.install`: forbidden in a command, but prose may
//! mention them.

use super::Example::{Command, Front, Prose, Section};
use super::case::{bad, good, warned};
use super::{Rule, TEXT, Weight};
use crate::code::Code;

const SOURCE: &str = "tool-request schema, Forbidden Content";
const PLACE: Weight = Weight::Depends {
    error: "in a command, the front matter, a list of files or an instruction",
    warning: "where prose only mentions it",
};

pub(super) static HOST: Rule = Rule {
    code: Code::PathHost,
    severity: PLACE,
    decided: TEXT,
    source: SOURCE,
    why: "A tool sees /in, /out and /tmp. A command or an instruction that names another place is \
          wrong or malicious; a text that only mentions one gets a warning for the reader.",
    remedy: "Declare the file as an input and name it below /in.",
    cases: &[
        bad("a file of the host", Command("python script.py /etc/passwd")),
        bad("inside code", Command("python -c 'open(\"/etc/passwd\")'")),
        bad(
            "in the list of inputs",
            Section("Input Files", "- /in/input.csv\n- /in/script.py\n- /etc/hosts"),
        ),
        bad("an instruction in prose", Prose("Read /etc/passwd first.")),
        bad("in the front matter", Front("purpose", "purpose: \"Count the words of /etc/motd.\"")),
        warned("only mentioned", Prose("The script does not read /etc/passwd.")),
        good("an input", Command("python script.py /in/input.csv /tmp/scratch")),
        good(
            "a URL is not a path",
            Command("python script.py /in/input.csv https://example.org/etc/a"),
        ),
    ],
};

pub(super) static TRAVERSAL: Rule = Rule {
    code: Code::PathTraversal,
    severity: Weight::Error,
    decided: TEXT,
    source: SOURCE,
    why: "A path with `..` does not show where it ends. No honest command needs to leave /in or \
          /out.",
    remedy: "Write the path without `..`.",
    cases: &[
        bad("a relative path", Command("python script.py ../rates.csv")),
        bad("as the value of an option", Command("python script.py /in/input.csv --dir=/out/..")),
        good("the path itself", Command("python script.py /in/input.csv")),
        good("dots within a name", Command("python script.py /in/input.csv /out/a..b 1..9")),
    ],
};

pub(super) static DEVICE: Rule = Rule {
    code: Code::PathDevice,
    severity: PLACE,
    decided: TEXT,
    source: SOURCE,
    why: "Devices give access to disks, kernels and other people's data; the sandbox has only a \
          few harmless ones. A mention in the text does not open a device, so it is a warning.",
    remedy: "Use only null, zero, random, urandom, stdin, stdout and stderr.",
    cases: &[
        bad("a virtual machine", Command("python script.py /in/input.csv --accel /dev/kvm")),
        bad("a disk", Command("python script.py --from=/dev/sda")),
        warned("only mentioned", Prose("It works without /dev/kvm.")),
        good("a harmless one", Command("python script.py /in/input.csv /dev/null")),
        good("another", Command("python script.py /in/input.csv --seed /dev/urandom")),
    ],
};

pub(super) static PACKAGE_INSTALL: Rule = Rule {
    code: Code::PackageInstall,
    severity: Weight::Depends {
        error: "in a command or an instruction",
        warning: "where prose only mentions it",
    },
    decided: TEXT,
    source: SOURCE,
    why: "An installer runs unreviewed code from the network, and its result differs from day to \
          day. A sentence that no packages are installed is welcome; the reader gets a warning and \
          decides.",
    remedy: "Use the packages of the runtime, or provide the module as a declared input.",
    cases: &[
        bad("an installer", Command("pip install numpy")),
        bad("through the interpreter", Command("python -m pip install numpy")),
        bad("an instruction in the text", Prose("First run `pip install numpy`.")),
        warned("only mentioned", Prose("We do not run pip install numpy.")),
        good("the tool alone", Command("python script.py /in/input.csv")),
        good("the word alone", Prose("The table lists the year in which pumps were put in.")),
    ],
};
