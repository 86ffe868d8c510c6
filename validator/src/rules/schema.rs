//! The documentation of `schema.*`.

use super::Example::{All, FileName, Front};
use super::case::{bad, good, warned};
use super::{Base, By, Rule, TEXT, Weight};
use crate::code::Code;

pub(super) static REQUEST_TYPE: Rule = Rule {
    code: Code::SchemaRequestType,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "Documents of several kinds use the same directories. A document of an unknown kind must \
          not be executed because it happens to look right.",
    remedy: "Write `request_type: tool_request`; in a result `result_type: tool_result`.",
    cases: &[
        bad("another kind", Front("request_type", "request_type: research_packet")),
        bad("a typing error", Front("request_type", "request_type: tool-request")),
        bad("a result of another kind", Front("result_type", "result_type: result"))
            .of(Base::Result),
        good("a request", Front("request_type", "request_type: tool_request")),
        good("a result", Front("result_type", "result_type: tool_result")).of(Base::Result),
    ],
};

pub(super) static VERSION: Rule = Rule {
    code: Code::SchemaVersion,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "A later schema may give a key another meaning. A reader of version 1 cannot know what it \
          misses.",
    remedy: "Write `schema_version: 1`.",
    cases: &[
        bad("a later version", Front("schema_version", "schema_version: 2")),
        bad("another spelling", Front("schema_version", "schema_version: \"1.0\"")),
        good("as a number", Front("schema_version", "schema_version: 1")),
        good("as text", Front("schema_version", "schema_version: \"1\"")),
    ],
};

pub(super) static REQUEST_ID: Rule = Rule {
    code: Code::SchemaRequestId,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, File Naming; design, Requests",
    why: "The id names files and directories, and records refer to it. It must be safe as a name, \
          its date must be true for sorting, and the names of the files next to a request continue \
          after it with a dot.",
    remedy: "Write `TR-YYYYMMDD-HHMMSSZ-<slug>` with a slug of 1 to 64 letters, digits, `_` or \
             `-`, and a date within a day of `created_utc`.",
    cases: &[
        bad("no time of day", Front("request_id", "request_id: \"TR-20260209-stats\"")),
        bad("a slash", Front("request_id", "request_id: \"TR-20260209-160501Z-a/b\"")),
        bad("a dot", Front("request_id", "request_id: \"TR-20260209-160501Z-stats.md.b\"")),
        bad("three days apart", Front("created_utc", "created_utc: \"2026-02-06T16:05:01Z\"")),
        bad(
            "a result that names another request than its id does",
            Front("request_id", "request_id: \"TR-20260209-160501Z-other\""),
        )
        .of(Base::Result),
        good(
            "date, time and slug",
            All(&[
                Front("request_id", "request_id: \"TR-20260209-160501Z-stats_2-b\""),
                FileName("TR-20260209-160501Z-stats_2-b.md"),
            ]),
        ),
        good("hours apart", Front("created_utc", "created_utc: \"2026-02-09T09:00:00Z\"")),
    ],
};

pub(super) static TIMESTAMP: Rule = Rule {
    code: Code::SchemaTimestamp,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Required Front Matter; RFC 3339",
    why: "Times are compared with each other and with the clock. One form without time zones needs \
          no interpretation, and an impossible day shows a typing error.",
    remedy: "Write the time in UTC, as `date -u +%Y-%m-%dT%H:%M:%SZ` prints it.",
    cases: &[
        bad("the 30th of February", Front("created_utc", "created_utc: \"2026-02-30T16:05:01Z\"")),
        bad("a local time", Front("created_utc", "created_utc: \"2026-02-09 17:05:01 CET\"")),
        bad("no time", Front("created_utc", "created_utc: \"now\"")).of(Base::Result),
        good("a UTC time", Front("created_utc", "created_utc: \"2026-02-09T16:05:01Z\"")),
        good("without quotes", Front("created_utc", "created_utc: 2026-02-09T16:05:01Z")),
    ],
};

pub(super) static FILE_NAME: Rule = Rule {
    code: Code::SchemaFileName,
    severity: Weight::Depends { error: "in the spool", warning: "elsewhere" },
    decided: &[By::Text, By::Spool],
    source: "tool-request schema, File Naming; design, Requests",
    why: "The daemon finds inputs and signatures by the name of the request's file. Elsewhere \
          another name does no harm; in the spool it would separate the files of a request.",
    remedy: "Rename the file to its id and `.md`.",
    cases: &[
        warned("another name", FileName("request.md")),
        warned("another ending", FileName("TR-20260209-160501Z-python-stats.txt")),
        good("the id", FileName("TR-20260209-160501Z-python-stats.md")),
        good(
            "id and name changed together",
            All(&[
                Front("request_id", "request_id: \"TR-20260209-160501Z-mean\""),
                FileName("TR-20260209-160501Z-mean.md"),
            ]),
        ),
    ],
};
