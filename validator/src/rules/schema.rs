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
    why: "Documents of several kinds pass through the same directories. One that does not say what \
          it is must not be executed because it happens to look right.",
    remedy: "Write `request_type: tool_request`, in a result `result_type: tool_result`.",
    cases: &[
        bad("another kind", Front("request_type", "request_type: research_packet")),
        bad("a slip", Front("request_type", "request_type: tool-request")),
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
    why: "A later schema may give a key another meaning. A reader that knows only version 1 can \
          not know what it would miss.",
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
    why: "The id becomes the name of files and directories and is what a record refers to, so it \
          must be safe as a name, and its date must not mislead whoever sorts by it. The names \
          of the files beside a request go on after its id with a dot, so it has none.",
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
    why: "Times are compared with each other and with the clock. One form without time zones \
          leaves nothing to interpret, and a day that never was proves a slip.",
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
    why: "Inputs and signatures are found by the name of the request's file. On a desk another \
          name is a matter of taste; in the spool it would separate what belongs together.",
    remedy: "Rename the file to its id and `.md`.",
    cases: &[
        warned("a name of one's own", FileName("request.md")),
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
