//! The documentation of `schema.*`.

use super::ExampleChange::{All, FileName, Front};
use super::example::{accepted, rejected, rejected_with_warning};
use super::{Base, DecidedBy, RuleDoc, RuleSeverity, TEXT};
use crate::code::Code;

pub(super) static REQUEST_TYPE: RuleDoc = RuleDoc {
    code: Code::SchemaRequestType,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "Documents of several kinds use the same directories. A document of an unknown kind must \
          not be executed because it happens to look right.",
    remedy: "Write `request_type: tool_request`; in a result `result_type: tool_result`.",
    examples: &[
        rejected("another kind", Front("request_type", "request_type: research_packet")),
        rejected("a typing error", Front("request_type", "request_type: tool-request")),
        rejected("a result of another kind", Front("result_type", "result_type: result"))
            .of(Base::Result),
        accepted("a request", Front("request_type", "request_type: tool_request")),
        accepted("a result", Front("result_type", "result_type: tool_result")).of(Base::Result),
    ],
};

pub(super) static VERSION: RuleDoc = RuleDoc {
    code: Code::SchemaVersion,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "A later schema may give a key another meaning. A reader of version 1 cannot know what it \
          misses.",
    remedy: "Write `schema_version: 1`.",
    examples: &[
        rejected("a later version", Front("schema_version", "schema_version: 2")),
        rejected("another spelling", Front("schema_version", "schema_version: \"1.0\"")),
        accepted("as a number", Front("schema_version", "schema_version: 1")),
        accepted("as text", Front("schema_version", "schema_version: \"1\"")),
    ],
};

pub(super) static REQUEST_ID: RuleDoc = RuleDoc {
    code: Code::SchemaRequestId,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, File Naming; docs/writing-requests.md",
    why: "The id names files and directories, and records refer to it. It must be safe as a name, \
          its date must be true for sorting, and the names of the files next to a request continue \
          after it with a dot.",
    remedy: "Write `TR-YYYYMMDD-HHMMSSZ-<slug>` with a slug of 1 to 64 letters, digits, `_` or \
             `-`, and a date within a day of `created_utc`.",
    examples: &[
        rejected("no time of day", Front("request_id", "request_id: \"TR-20260209-stats\"")),
        rejected("a slash", Front("request_id", "request_id: \"TR-20260209-160501Z-a/b\"")),
        rejected("a dot", Front("request_id", "request_id: \"TR-20260209-160501Z-stats.md.b\"")),
        rejected("three days apart", Front("created_utc", "created_utc: \"2026-02-06T16:05:01Z\"")),
        rejected(
            "a result that names another request than its id does",
            Front("request_id", "request_id: \"TR-20260209-160501Z-other\""),
        )
        .of(Base::Result),
        accepted(
            "date, time and slug",
            All(&[
                Front("request_id", "request_id: \"TR-20260209-160501Z-stats_2-b\""),
                FileName("TR-20260209-160501Z-stats_2-b.md"),
            ]),
        ),
        accepted("hours apart", Front("created_utc", "created_utc: \"2026-02-09T09:00:00Z\"")),
    ],
};

pub(super) static TIMESTAMP: RuleDoc = RuleDoc {
    code: Code::SchemaTimestamp,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Required Front Matter; RFC 3339",
    why: "Times are compared with each other and with the clock. One form without time zones needs \
          no interpretation, and an impossible day shows a typing error.",
    remedy: "Write the time in UTC, as `date -u +%Y-%m-%dT%H:%M:%SZ` prints it.",
    examples: &[
        rejected(
            "the 30th of February",
            Front("created_utc", "created_utc: \"2026-02-30T16:05:01Z\""),
        ),
        rejected("a local time", Front("created_utc", "created_utc: \"2026-02-09 17:05:01 CET\"")),
        rejected("no time", Front("created_utc", "created_utc: \"now\"")).of(Base::Result),
        accepted("a UTC time", Front("created_utc", "created_utc: \"2026-02-09T16:05:01Z\"")),
        accepted("without quotes", Front("created_utc", "created_utc: 2026-02-09T16:05:01Z")),
    ],
};

pub(super) static FILE_NAME: RuleDoc = RuleDoc {
    code: Code::SchemaFileName,
    severity: RuleSeverity::Depends { error: "in the spool", warning: "elsewhere" },
    decided_by: &[DecidedBy::Text, DecidedBy::Spool],
    source: "tool-request schema, File Naming; docs/writing-requests.md",
    why: "The daemon finds inputs and signatures by the name of the request's file. Elsewhere \
          another name does no harm; in the spool it would separate the files of a request.",
    remedy: "Rename the file to its id and `.md`.",
    examples: &[
        rejected_with_warning("another name", FileName("request.md")),
        rejected_with_warning("another ending", FileName("TR-20260209-160501Z-python-stats.txt")),
        accepted("the id", FileName("TR-20260209-160501Z-python-stats.md")),
        accepted(
            "id and name changed together",
            All(&[
                Front("request_id", "request_id: \"TR-20260209-160501Z-mean\""),
                FileName("TR-20260209-160501Z-mean.md"),
            ]),
        ),
    ],
};
