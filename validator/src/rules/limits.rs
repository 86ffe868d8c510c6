//! The documentation of `limits.*`.

use super::Example::{Front, Words};
use super::case::{bad, good, warned};
use super::{By, POLICY, Rule, TEXT, Weight};
use crate::code::Code;

pub(super) static CPU: Rule = Rule {
    code: Code::LimitsCpu,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "The kernel gets the number of cores. Zero, a negative number or a word would be a limit \
          without effect.",
    remedy: "Write a decimal number such as \"2\" or \"0.5\", with at most three decimals.",
    cases: &[
        bad("zero", Front("cpu_limit", "cpu_limit: \"0\"")),
        bad("a word", Front("cpu_limit", "cpu_limit: \"two\"")),
        bad("an exponent", Front("cpu_limit", "cpu_limit: \"1e3\"")),
        good("two cores", Front("cpu_limit", "cpu_limit: \"2\"")),
        good("half a core", Front("cpu_limit", "cpu_limit: 0.5")),
    ],
};

pub(super) static MEMORY: Rule = Rule {
    code: Code::LimitsMemory,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "Memory is counted in whole MiB. A negative, fractional or impossible number cannot be a \
          limit.",
    remedy: "Write a positive whole number of MiB without quotes.",
    cases: &[
        bad("zero", Front("memory_limit_mb", "memory_limit_mb: 0")),
        bad("a fraction", Front("memory_limit_mb", "memory_limit_mb: 1.5")),
        good("one GiB", Front("memory_limit_mb", "memory_limit_mb: 1024")),
        good("a small amount", Front("memory_limit_mb", "memory_limit_mb: 64")),
    ],
};

pub(super) static TIME: Rule = Rule {
    code: Code::LimitsTime,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "Every run ends, at this second at the latest. That needs a positive whole number of at \
          most a year.",
    remedy: "Write a positive whole number of seconds without quotes.",
    cases: &[
        bad("negative", Front("time_limit_sec", "time_limit_sec: -1")),
        bad("a leading zero", Front("time_limit_sec", "time_limit_sec: 0120")),
        good("two minutes", Front("time_limit_sec", "time_limit_sec: 120")),
        good("an hour", Front("time_limit_sec", "time_limit_sec: 3600")),
    ],
};

pub(super) static CEILING: Rule = Rule {
    code: Code::LimitsCeiling,
    severity: Weight::Warning,
    decided: POLICY,
    source: "design, Policy",
    why: "A request for the exact maximum was often copied instead of estimated. It is permitted, \
          and worth a second look.",
    remedy: "Request what the tool needs, with some reserve.",
    cases: &[
        warned("the maximum time", Words("600 seconds, and the ceiling of policy is 600.")),
        warned("the maximum memory", Words("4096 MiB, and the ceiling of policy is 4096.")),
        good("below it", Words("120 seconds, and the ceiling of policy is 600.")),
        good("an estimate", Words("300 MiB, and the ceiling of policy is 4096.")),
    ],
};

pub(super) static OVER_POLICY: Rule = Rule {
    code: Code::LimitsOverPolicy,
    severity: Weight::Error,
    decided: &[By::Policy, By::Spool],
    source: "design, Policy",
    why: "A limit above the ceiling is refused and never lowered silently: the tool would run with \
          other limits than were approved.",
    remedy: "Request at most what the active policy permits (`public/policy.yaml` of the spool; \
             for `toolexec run`, `toolexec policy show embedded`), and have it approved again.",
    cases: &[
        bad("too long", Words("3600 seconds, and the ceiling of policy is 600.")),
        bad("large inputs", Words("All inputs together are larger than `input_bytes_max`.")),
        good("within", Words("120 seconds, and the ceiling of policy is 600.")),
        good("at the ceiling", Words("600 seconds, and the ceiling of policy is 600.")),
    ],
};
