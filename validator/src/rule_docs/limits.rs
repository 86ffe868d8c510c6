//! The documentation of `limits.*`.

use super::ExampleChange::{Front, Situation};
use super::example::{accepted, rejected, rejected_with_warning};
use super::{DecidedBy, POLICY, RuleDoc, RuleSeverity, TEXT};
use crate::code::Code;

pub(super) static CPU: RuleDoc = RuleDoc {
    code: Code::LimitsCpu,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "The kernel gets the number of cores. Zero, a negative number or a word would be a limit \
          without effect.",
    remedy: "Write a decimal number such as \"2\" or \"0.5\", with at most three decimals.",
    examples: &[
        rejected("zero", Front("cpu_limit", "cpu_limit: \"0\"")),
        rejected("a word", Front("cpu_limit", "cpu_limit: \"two\"")),
        rejected("an exponent", Front("cpu_limit", "cpu_limit: \"1e3\"")),
        accepted("two cores", Front("cpu_limit", "cpu_limit: \"2\"")),
        accepted("half a core", Front("cpu_limit", "cpu_limit: 0.5")),
    ],
};

pub(super) static MEMORY: RuleDoc = RuleDoc {
    code: Code::LimitsMemory,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "Memory is counted in whole MiB. A negative, fractional or impossible number cannot be a \
          limit.",
    remedy: "Write a positive whole number of MiB without quotes.",
    examples: &[
        rejected("zero", Front("memory_limit_mb", "memory_limit_mb: 0")),
        rejected("a fraction", Front("memory_limit_mb", "memory_limit_mb: 1.5")),
        accepted("one GiB", Front("memory_limit_mb", "memory_limit_mb: 1024")),
        accepted("a small amount", Front("memory_limit_mb", "memory_limit_mb: 64")),
    ],
};

pub(super) static TIME: RuleDoc = RuleDoc {
    code: Code::LimitsTime,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "Every run ends, at this second at the latest. That needs a positive whole number of at \
          most a year.",
    remedy: "Write a positive whole number of seconds without quotes.",
    examples: &[
        rejected("negative", Front("time_limit_sec", "time_limit_sec: -1")),
        rejected("a leading zero", Front("time_limit_sec", "time_limit_sec: 0120")),
        accepted("two minutes", Front("time_limit_sec", "time_limit_sec: 120")),
        accepted("an hour", Front("time_limit_sec", "time_limit_sec: 3600")),
    ],
};

pub(super) static CEILING: RuleDoc = RuleDoc {
    code: Code::LimitsCeiling,
    severity: RuleSeverity::Warning,
    decided_by: POLICY,
    source: "docs/policy.md",
    why: "A request for the exact maximum was often copied instead of estimated. It is permitted, \
          and worth a second look.",
    remedy: "Request what the tool needs, with some reserve.",
    examples: &[
        rejected_with_warning(
            "the maximum time",
            Situation("600 seconds, and the ceiling of policy is 600."),
        ),
        rejected_with_warning(
            "the maximum memory",
            Situation("4096 MiB, and the ceiling of policy is 4096."),
        ),
        accepted("below it", Situation("120 seconds, and the ceiling of policy is 600.")),
        accepted("an estimate", Situation("300 MiB, and the ceiling of policy is 4096.")),
    ],
};

pub(super) static OVER_POLICY: RuleDoc = RuleDoc {
    code: Code::LimitsOverPolicy,
    severity: RuleSeverity::Error,
    decided_by: &[DecidedBy::Policy, DecidedBy::Spool],
    source: "docs/policy.md",
    why: "A limit above the ceiling is refused and never lowered silently: the tool would run with \
          other limits than were approved.",
    remedy: "Request at most what the active policy permits (`public/policy.yaml` of the spool; \
             for `toolexec run`, `toolexec policy show embedded`), and have it approved again.",
    examples: &[
        rejected("too long", Situation("3600 seconds, and the ceiling of policy is 600.")),
        rejected(
            "large inputs",
            Situation("All inputs together are larger than `input_bytes_max`."),
        ),
        accepted("within", Situation("120 seconds, and the ceiling of policy is 600.")),
        accepted("at the ceiling", Situation("600 seconds, and the ceiling of policy is 600.")),
    ],
};
