//! The record's front matter: upstream's keys, then those of TOOL-EXEC. Every fact must be here in
//! machine-readable form, and none may be guessed: an unknown value is `unknown`, and a value that
//! never existed is `null`.

use model::{Outcome, Sha256};
use sandbox::report::{Accounting, Artifact, Confinement, DeniedCall, LimitInForce, Stream};
use validator::Violation;

use policies::{RuleVerdict, Touch};

use crate::authority;
use crate::field::{DecisionField, ProvenanceField, RunField, UpstreamField};
use crate::outside::Showing;
use crate::request_files::{RequestFiles, Row};
use crate::statement::{ReplayOf, Statement};
use crate::tool_text::{self, ToolShowing};
use crate::yaml::{Map, Node, block};

/// Returns the block with both `---` lines.
pub(crate) fn front_matter(facts: &Map) -> String {
    format!("---\n{}---\n", block(facts, 0))
}

/// Returns every fact of the record: the front matter before it becomes text.
pub(crate) fn facts(
    says: &Statement<'_>,
    files: &RequestFiles<'_>,
    show: Showing,
    tool: &ToolShowing,
) -> Map {
    let upstream =
        UpstreamField::ALL.iter().map(|it| (it.as_str(), upstream(*it, says, show, tool)));
    let provenance =
        ProvenanceField::ALL.iter().map(|it| (it.as_str(), provenance(*it, says, files, show)));
    let decisions = DecisionField::ALL.iter().map(|it| (it.as_str(), decision(*it, says, show)));
    let run =
        RunField::ALL.iter().map(|it| (it.as_str(), run_fact(*it, says, files, (show, tool))));
    upstream.chain(provenance).chain(decisions).chain(run).collect()
}

fn upstream(field: UpstreamField, says: &Statement<'_>, show: Showing, tool: &ToolShowing) -> Node {
    let finished = says.ran.map(|ran| ran.finished);
    let artifact = |artifact: &Artifact| {
        vec![
            ("path", tool.exact(&artifact.path)),
            ("sha256", Node::Text(Sha256::from_bytes(artifact.sha256).to_string())),
            ("size_bytes", Node::Uint(artifact.size_bytes)),
            ("mode", Node::Text(format!("{:04o}", artifact.mode))),
            ("declared", Node::Bool(says.declaration(artifact).is_some())),
        ]
    };
    match field {
        UpstreamField::ResultType => Node::Word("tool_result"),
        UpstreamField::SchemaVersion => Node::Uint(1),
        UpstreamField::ResultId => show.exact(says.result_id.as_str()),
        UpstreamField::CreatedUtc => Node::Text(says.created.to_string()),
        UpstreamField::RequestId => show.exact(says.request_id()),
        UpstreamField::Executor => Node::text("tool-exec"),
        UpstreamField::Backend => Node::text(says.backend),
        UpstreamField::ExitCode => Node::Int(says.exit_code().into()),
        UpstreamField::RuntimeSec => {
            let us = says.runtime_us();
            Node::Number(format!("{}.{:06}", us / 1_000_000, us % 1_000_000))
        }
        UpstreamField::NetworkUsed => Node::text(says.network.as_str()),
        UpstreamField::NetworkDestinations => show.exact_list(&says.network.destinations()),
        UpstreamField::Artifacts => Node::maps(says.artifacts().iter().map(artifact)),
        UpstreamField::StdoutSha256 => stream_digest(finished.map(|run| run.stdout)),
        UpstreamField::StderrSha256 => stream_digest(finished.map(|run| run.stderr)),
    }
}

/// Returns the digest of the kept bytes of a stream; of no bytes if nothing ran.
fn stream_digest(stream: Option<Stream>) -> Node {
    let empty = || Sha256::of(b"");
    Node::Text(stream.map_or_else(empty, |it| Sha256::from_bytes(it.sha256)).to_string())
}

fn provenance(
    field: ProvenanceField,
    says: &Statement<'_>,
    files: &RequestFiles<'_>,
    show: Showing,
) -> Node {
    let request = says.request();
    let inputs = request.map_or(&[][..], |request| request.inputs());
    let input = |input: &validator::Input| {
        vec![("name", show.exact(input.name())), ("sha256", Node::Text(input.sha256().to_string()))]
    };
    let approval = |(principal, key): &(String, String)| {
        let touch = says.touches.iter().find(|(fingerprint, _)| fingerprint == key);
        vec![
            ("principal", show.exact(principal)),
            ("key", show.exact(key)),
            ("touch", touch.map_or(Node::Null, |(_, touch)| touched(*touch))),
        ]
    };
    let argv = request.map_or(&[][..], |request| request.argv());
    match field {
        ProvenanceField::Outcome => Node::text(says.outcome.as_str()),
        ProvenanceField::Reason => says.why_node(show),
        ProvenanceField::ExecutorVersion => Node::text(says.executor_version),
        ProvenanceField::ReplayOf => says.replay_of.map_or(Node::Null, |of| replay_of(of, show)),
        ProvenanceField::RequestSha256 => Node::Text(Sha256::of(says.request_bytes()).to_string()),
        ProvenanceField::RequestFile => show.exact(files.found_as()),
        ProvenanceField::IntentSha256 => {
            request.map_or(Node::Null, |request| Node::Text(request.intent_sha256().to_string()))
        }
        ProvenanceField::Inputs => Node::maps(inputs.iter().map(input)),
        ProvenanceField::Approval => show.words(says.approval),
        ProvenanceField::Approvals => Node::maps(says.approvals.iter().map(approval)),
        // A list shorter than its total is truncated.
        ProvenanceField::Argv => show.exact_list(show.fitting(argv)),
        ProvenanceField::ArgvTotal => Node::Uint(count(argv.len())),
        ProvenanceField::ConstraintsStated => {
            let stated = stated(says).take(show.constraints_max());
            Node::List(stated.map(|text| show.words(text)).collect())
        }
        ProvenanceField::ConstraintsStatedTotal => Node::Uint(count(stated(says).count())),
    }
}

fn replay_of(of: ReplayOf<'_>, show: Showing) -> Node {
    Node::Map(vec![
        ("result_id", show.exact(of.result_id.as_str())),
        ("record_sha256", Node::Text(of.record_sha256.to_string())),
    ])
}

fn touched(touch: Touch) -> Node {
    Node::Map(vec![
        ("user_verified", Node::Bool(touch.user_verified())),
        ("counter", Node::Uint(touch.counter().into())),
    ])
}

/// Returns the constraints beyond the seed's three. They are stated, not enforced.
fn stated<'a>(says: &Statement<'a>) -> impl Iterator<Item = &'a str> {
    let all = says.request().map_or(&[][..], |request| request.constraints());
    all.iter().filter(|constraint| !constraint.is_seed()).map(|constraint| constraint.text())
}

fn decision(field: DecisionField, says: &Statement<'_>, show: Showing) -> Node {
    let rule = |rule: &RuleVerdict| {
        vec![
            ("rule", show.words(&rule.rule)),
            ("verdict", Node::Word(rule.verdict.as_str())),
            ("reason", show.words(&rule.reason)),
        ]
    };
    let violation = |violation: &Violation| {
        vec![
            ("code", Node::text(violation.code.as_str())),
            ("severity", Node::Word(violation.severity.as_str())),
            ("message", show.words(&violation.message)),
            ("line", Node::Uint(u64::try_from(violation.line).unwrap_or(u64::MAX))),
        ]
    };
    match field {
        DecisionField::Policy => Node::Map(vec![
            ("name", show.words(says.policy_name)),
            ("sha256", Node::Text(says.policy_sha256.to_string())),
        ]),
        DecisionField::Rules => Node::maps(says.rules().iter().map(rule)),
        DecisionField::Violations => {
            Node::maps(says.violations.iter().take(show.violations_max()).map(violation))
        }
        DecisionField::ViolationsTotal => Node::Uint(count(says.violations.len())),
        DecisionField::Gate => authority::gate_answer(says.grounds, show),
        DecisionField::Permission => authority::permission_answer(says.grounds, show),
        DecisionField::Ais => authority::ais_answer(says.grounds, show),
    }
}

fn run_fact(
    field: RunField,
    says: &Statement<'_>,
    files: &RequestFiles<'_>,
    (show, tool): (Showing, &ToolShowing),
) -> Node {
    let time = |at: Option<model::UtcTime>| at.map_or(Node::Null, |at| Node::text(at.to_string()));
    let collected = says.ran.map(|ran| &ran.finished.collected);
    let rejected = collected.map_or(&[][..], |collected| &collected.rejected);
    let object = |object: &sandbox::report::Rejected| {
        vec![("path", tool.words(&object.path)), ("reason", Node::Word(object.reason.as_str()))]
    };
    match field {
        RunField::StartedUtc => time(says.ran.map(|ran| ran.started)),
        RunField::EndedUtc => time(says.ran.map(|ran| ran.ended)),
        RunField::Limits => {
            let limits = says.confinement().map_or(&[][..], |confinement| &confinement.limits);
            Node::maps(limits.iter().map(limit))
        }
        RunField::Confinement => {
            says.confinement().map_or(Node::Null, |cell| confinement(cell, show))
        }
        RunField::Accounting => accounting(says),
        RunField::Denials => denials(says),
        RunField::Network => says.network.node(show, tool),
        RunField::Streams => streams(says),
        RunField::Rejected => Node::maps(tool_text::listed(rejected).iter().map(object)),
        RunField::RejectedTotal => Node::Uint(count(rejected.len())),
        RunField::Missing => show.exact_list(&says.missing()),
        RunField::CollectionComplete => {
            collected.map_or(Node::Null, |all| Node::Bool(all.complete))
        }
        RunField::Files => file_rows(files, show),
    }
}

fn limit(limit: &LimitInForce) -> Map {
    vec![
        ("name", Node::Word(limit.name.as_str())),
        ("mechanism", Node::Word(limit.mechanism.as_str())),
        ("asked", Node::Uint(limit.asked)),
        ("in_force", Node::Uint(limit.in_force)),
    ]
}

fn confinement(cell: &Confinement, show: Showing) -> Node {
    let namespace = |(kind, inode): &(String, u64)| {
        vec![("kind", Node::text(kind)), ("inode", Node::Uint(*inode))]
    };
    let digests = cell.seccomp_sha256.iter().map(|sha256| Sha256::from_bytes(*sha256).to_string());
    // Sixteen digits, as in /proc/PID/status.
    let mask = |set: u64| Node::Text(format!("{set:016x}"));
    Node::Map(vec![
        ("mode", Node::Word(cell.mode.as_str())),
        ("uid", Node::Uint(cell.uid.into())),
        (
            "groups",
            Node::List(cell.groups.iter().map(|group| Node::Uint((*group).into())).collect()),
        ),
        ("namespaces", Node::maps(cell.namespaces.iter().map(namespace))),
        (
            "landlock",
            Node::Map(vec![
                ("abi", Node::Uint(cell.landlock_abi.into())),
                ("handled", Node::texts(&cell.landlock_handled)),
            ]),
        ),
        (
            "seccomp",
            Node::Map(vec![
                ("mode", Node::Uint(cell.seccomp_mode.into())),
                ("sha256", Node::texts(digests)),
            ]),
        ),
        ("no_new_privs", Node::Bool(cell.no_new_privs)),
        (
            "capabilities",
            Node::Map(vec![
                ("inheritable", mask(cell.capabilities.inheritable)),
                ("permitted", mask(cell.capabilities.permitted)),
                ("effective", mask(cell.capabilities.effective)),
                ("bounding", mask(cell.capabilities.bounding)),
                ("ambient", mask(cell.capabilities.ambient)),
            ]),
        ),
        ("mounts_sha256", Node::Text(Sha256::from_bytes(cell.mounts_sha256).to_string())),
        ("degraded", show.exact_list(&cell.degraded)),
    ])
}

/// Returns `null` if nothing ran; all values are unknown if something may have run.
fn accounting(says: &Statement<'_>) -> Node {
    let used = match says.ran {
        Some(ran) => ran.finished.accounting,
        None if says.outcome == Outcome::Indeterminate => Accounting::default(),
        None => return Node::Null,
    };
    let sampled = match used.memory_peak_bytes {
        Some(_) => Node::Bool(used.memory_peak_sampled),
        None => Node::Word("unknown"),
    };
    Node::Map(vec![
        ("wall_us", Node::count(used.wall_us)),
        ("cpu_user_us", Node::count(used.cpu_user_us)),
        ("cpu_system_us", Node::count(used.cpu_system_us)),
        ("memory_peak_bytes", Node::count(used.memory_peak_bytes)),
        ("memory_peak_sampled", sampled),
        ("oom_kills", Node::count(used.oom_kills)),
        ("pids_peak", Node::count(used.pids_peak)),
        ("pids_refused", Node::count(used.pids_refused)),
        ("switches_voluntary", Node::count(used.switches_voluntary)),
        ("switches_forced", Node::count(used.switches_forced)),
        ("blocks_in", Node::count(used.blocks_in)),
        ("blocks_out", Node::count(used.blocks_out)),
        ("out_bytes", Node::count(used.out_bytes)),
    ])
}

/// Returns the denied actions that are observable from outside the sandbox. A file that the sandbox
/// lacks or that Landlock denies leaves no trace, so its value is `not observable` instead of
/// `none`.
fn denials(says: &Statement<'_>) -> Node {
    let Some(ran) = says.ran else {
        return match says.outcome {
            Outcome::Indeterminate => Node::Word("unknown"),
            _ => Node::Null,
        };
    };
    let row = |denied: &DeniedCall| {
        vec![("name", Node::text(&denied.name)), ("count", Node::Uint(denied.count))]
    };
    let violation = ran.finished.violation.as_deref();
    Node::Map(vec![
        ("calls", Node::maps(ran.finished.denied.iter().map(row))),
        ("violation", violation.map_or(Node::Null, Node::text)),
        ("files", Node::Word("not observable")),
        ("landlock", Node::Word("not observable")),
    ])
}

fn streams(says: &Statement<'_>) -> Node {
    // Without a run the streams are empty files. The output of a lost run is unknown.
    let lost = says.outcome == Outcome::Indeterminate;
    let bytes = |stream: Option<Stream>| {
        let produced = stream.map_or((!lost).then_some(0), |stream| Some(stream.produced_bytes));
        Node::Map(vec![
            ("kept_bytes", Node::Uint(stream.map_or(0, |stream| stream.kept_bytes))),
            ("produced_bytes", Node::count(produced)),
        ])
    };
    let finished = says.ran.map(|ran| ran.finished);
    Node::Map(vec![
        ("stdout", bytes(finished.map(|run| run.stdout))),
        ("stderr", bytes(finished.map(|run| run.stderr))),
    ])
}

fn file_rows(files: &RequestFiles<'_>, show: Showing) -> Node {
    let row = |row: &Row<'_>| {
        let mut map = vec![
            ("path", show.exact(&format!("request/{}", row.stored_as))),
            ("sha256", Node::Text(Sha256::of(row.bytes).to_string())),
            ("size_bytes", Node::Uint(count(row.bytes.len()))),
        ];
        map.extend(row.name.iter().map(|name| ("name", show.exact(name))));
        map
    };
    Node::maps(files.rows().iter().map(row))
}

fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}
