//! The record's front matter: upstream's keys, then those of TOOL-EXEC. No fact may be missing or
//! guessed: an unknown value is `unknown`, and a value that never existed is `null`.

use model::{Outcome, Sha256};
use sandbox::report::{
    Accounting, CollectedArtifact, Confinement, DeniedCall, EffectiveLimit, Stream,
};
use validator::Violation;

use policies::{BackendFile, GrantedBackend, RuleVerdict, Touch};

use crate::authority;
use crate::field::{DecisionField, ProvenanceField, RunField, UpstreamField};
use crate::guest_node::machine_node;
use crate::guest_report::GuestReport;
use crate::request_files::{RequestFileRow, RequestFiles};
use crate::statement::{ReplayOf, StatedUse, Statement};
use crate::tool_text::{self, ToolRedaction};
use crate::untrusted::Redaction;
use crate::yaml::{FactMap, FactNode, block};

/// Returns the block with both `---` lines.
pub(crate) fn front_matter(facts: &FactMap) -> String {
    format!("---\n{}---\n", block(facts, 0))
}

/// Returns every fact of the record: the front matter before it becomes text.
pub(crate) fn facts(
    statement: &Statement<'_>,
    files: &RequestFiles<'_>,
    show: Redaction,
    tool: &ToolRedaction,
) -> FactMap {
    let upstream =
        UpstreamField::ALL.iter().map(|it| (it.as_str(), upstream(*it, statement, show, tool)));
    let has_further_backend = statement.further_backend().is_some();
    let provenance = ProvenanceField::ALL
        .iter()
        .filter(|it| **it != ProvenanceField::BackendDetail || has_further_backend)
        .map(|it| (it.as_str(), provenance(*it, statement, files, show)));
    let decisions =
        DecisionField::ALL.iter().map(|it| (it.as_str(), decision(*it, statement, show)));
    let run =
        RunField::ALL.iter().map(|it| (it.as_str(), run_fact(*it, statement, files, (show, tool))));
    upstream.chain(provenance).chain(decisions).chain(run).collect()
}

fn upstream(
    field: UpstreamField,
    statement: &Statement<'_>,
    show: Redaction,
    tool: &ToolRedaction,
) -> FactNode {
    let finished = statement.run.map(|ran| ran.finished);
    let is_declared = |artifact: &CollectedArtifact| {
        statement.declaration(artifact).is_some()
            || statement.is_code_value(artifact)
            || statement.is_machine_report(artifact)
    };
    let artifact = |artifact: &CollectedArtifact| {
        vec![
            ("path", tool.exact_node(&artifact.path)),
            ("sha256", FactNode::Text(Sha256::from_bytes(artifact.sha256).to_string())),
            ("size_bytes", FactNode::Uint(artifact.size_bytes)),
            ("mode", FactNode::Text(format!("{:04o}", artifact.mode))),
            ("declared", FactNode::Bool(is_declared(artifact))),
        ]
    };
    match field {
        UpstreamField::ResultType => FactNode::Keyword("tool_result"),
        UpstreamField::SchemaVersion => FactNode::Uint(1),
        UpstreamField::ResultId => show.exact_node(statement.result_id.as_str()),
        UpstreamField::CreatedUtc => FactNode::Text(statement.created.to_string()),
        UpstreamField::RequestId => show.exact_node(statement.request_id()),
        UpstreamField::Executor => FactNode::text("tool-exec"),
        UpstreamField::Backend => FactNode::text(statement.backend),
        UpstreamField::ExitCode => FactNode::Int(statement.exit_code().into()),
        UpstreamField::RuntimeSec => {
            let us = statement.runtime_us();
            FactNode::Number(format!("{}.{:06}", us / 1_000_000, us % 1_000_000))
        }
        UpstreamField::NetworkUsed => FactNode::text(statement.network.as_str()),
        UpstreamField::NetworkDestinations => {
            show.exact_list_node(&statement.network.destinations())
        }
        UpstreamField::Artifacts => FactNode::maps(statement.artifacts().iter().map(artifact)),
        UpstreamField::StdoutSha256 => stream_digest(finished.map(|run| run.stdout)),
        UpstreamField::StderrSha256 => stream_digest(finished.map(|run| run.stderr)),
    }
}

/// Returns the digest of the kept bytes of a stream; of no bytes if nothing ran.
fn stream_digest(stream: Option<Stream>) -> FactNode {
    let empty = || Sha256::of(b"");
    FactNode::Text(stream.map_or_else(empty, |it| Sha256::from_bytes(it.sha256)).to_string())
}

fn provenance(
    field: ProvenanceField,
    statement: &Statement<'_>,
    files: &RequestFiles<'_>,
    show: Redaction,
) -> FactNode {
    let request = statement.request();
    let inputs = request.map_or(&[][..], |request| request.inputs());
    let input = |input: &validator::Input| {
        vec![
            ("name", show.exact_node(input.name())),
            ("sha256", FactNode::Text(input.sha256().to_string())),
        ]
    };
    let approval = |(principal, key): &(String, String)| {
        let touch = statement.touches.iter().find(|(fingerprint, _)| fingerprint == key);
        vec![
            ("principal", show.exact_node(principal)),
            ("key", show.exact_node(key)),
            ("touch", touch.map_or(FactNode::Null, |(_, touch)| touch_node(touch, show))),
        ]
    };
    let argv = request.map_or(&[][..], |request| request.argv());
    match field {
        ProvenanceField::Outcome => FactNode::text(statement.outcome.as_str()),
        ProvenanceField::Reason => statement.reason_node(show),
        ProvenanceField::ExecutorVersion => FactNode::text(statement.executor_version),
        ProvenanceField::ReplayOf => {
            statement.replay_of.map_or(FactNode::Null, |of| replay_of(of, show))
        }
        ProvenanceField::RequestSha256 => {
            FactNode::Text(Sha256::of(statement.request_bytes()).to_string())
        }
        ProvenanceField::RequestFile => show.exact_node(files.original_name()),
        ProvenanceField::IntentSha256 => request
            .map_or(FactNode::Null, |request| FactNode::Text(request.intent_sha256().to_string())),
        ProvenanceField::Inputs => FactNode::maps(inputs.iter().map(input)),
        ProvenanceField::Approval => show.text_node(statement.approval),
        ProvenanceField::Approvals => FactNode::maps(statement.approvals.iter().map(approval)),
        ProvenanceField::Standing => {
            statement.standing.map_or(FactNode::Null, |used| standing_node(used, request, show))
        }
        ProvenanceField::Environment => request
            .and_then(validator::Request::environment)
            .map_or(FactNode::Null, |named| show.exact_node(&named.to_string())),
        ProvenanceField::BackendDetail => {
            let guest = statement.guest();
            statement.further_backend().map_or(FactNode::Null, |it| backend_node(it, guest))
        }
        // A list shorter than its total is truncated.
        ProvenanceField::Argv => show.exact_list_node(show.fitting_prefix(argv)),
        ProvenanceField::ArgvTotal => FactNode::Uint(count(argv.len())),
        ProvenanceField::ConstraintsStated => {
            let stated = stated_constraints(statement).take(show.constraints_max());
            FactNode::List(stated.map(|text| show.text_node(text)).collect())
        }
        ProvenanceField::ConstraintsStatedTotal => {
            FactNode::Uint(count(stated_constraints(statement).count()))
        }
    }
}

fn standing_node(
    used: StatedUse<'_>,
    request: Option<&validator::Request>,
    show: Redaction,
) -> FactNode {
    let terms = used.approval.terms();
    let parameter = |(name, value): (&String, &String)| {
        vec![("name", show.exact_node(name)), ("value", show.exact_node(value))]
    };
    let inputs = request.map_or(&[][..], |request| request.inputs());
    let sized = |sizes: &[u64]| {
        let rows = inputs.iter().zip(sizes.to_vec());
        FactNode::maps(rows.map(|(input, bytes)| {
            vec![("name", show.exact_node(input.name())), ("size_bytes", FactNode::Uint(bytes))]
        }))
    };
    FactNode::Map(vec![
        ("id", show.exact_node(terms.id.as_str())),
        ("sha256", FactNode::Text(used.approval.sha256().to_string())),
        ("use", used.number.map_or(FactNode::Null, FactNode::Uint)),
        ("uses_max", FactNode::Uint(terms.uses_max)),
        ("parameters", FactNode::maps(used.binding.parameters.iter().map(parameter))),
        ("inputs", used.sizes.map_or(FactNode::Keyword("unknown"), sized)),
    ])
}

fn backend_node(granted: &GrantedBackend, guest: Option<&GuestReport>) -> FactNode {
    let file = |file: &BackendFile| {
        let sha256 = FactNode::Text(file.sha256.to_string());
        vec![("role", FactNode::text(&file.role)), ("sha256", sha256)]
    };
    let mut facts = vec![
        ("name", FactNode::text(&granted.name)),
        ("kind", FactNode::Keyword(granted.kind.as_str())),
        ("files", FactNode::maps(granted.files.iter().map(file))),
    ];
    facts.extend(granted.machine.iter().map(|it| ("machine", machine_node(it, guest))));
    FactNode::Map(facts)
}

fn replay_of(of: ReplayOf<'_>, show: Redaction) -> FactNode {
    FactNode::Map(vec![
        ("result_id", show.exact_node(of.result_id.as_str())),
        ("record_sha256", FactNode::Text(of.record_sha256.to_string())),
    ])
}

fn touch_node(touch: &Touch, show: Redaction) -> FactNode {
    let mut facts = vec![
        ("user_verified", FactNode::Bool(touch.user_verified())),
        ("counter", FactNode::Uint(touch.counter().into())),
    ];
    // Only the touch of a passkey has the key.
    facts.extend(touch.webauthn().map(|stated| {
        let node = FactNode::Map(vec![
            ("rp_id", show.exact_node(stated.rp_id())),
            ("origin", show.exact_node(stated.origin())),
            ("backup_eligible", FactNode::Bool(stated.backup_eligible())),
            ("backed_up", FactNode::Bool(stated.backed_up())),
        ]);
        ("webauthn", node)
    }));
    FactNode::Map(facts)
}

/// Returns the constraints beyond the seed's three. They are stated, not enforced.
fn stated_constraints<'a>(statement: &Statement<'a>) -> impl Iterator<Item = &'a str> {
    let all = statement.request().map_or(&[][..], |request| request.constraints());
    all.iter().filter(|constraint| !constraint.is_seed()).map(|constraint| constraint.text())
}

fn decision(field: DecisionField, statement: &Statement<'_>, show: Redaction) -> FactNode {
    let rule = |rule: &RuleVerdict| {
        vec![
            ("rule", show.text_node(&rule.rule)),
            ("verdict", FactNode::Keyword(rule.verdict.as_str())),
            ("reason", show.text_node(&rule.reason)),
        ]
    };
    let violation = |violation: &Violation| {
        vec![
            ("code", FactNode::text(violation.code.as_str())),
            ("severity", FactNode::Keyword(violation.severity.as_str())),
            ("message", show.text_node(&violation.message)),
            ("line", FactNode::Uint(u64::try_from(violation.line).unwrap_or(u64::MAX))),
        ]
    };
    match field {
        DecisionField::Policy => FactNode::Map(vec![
            ("name", show.text_node(statement.policy_name)),
            ("sha256", FactNode::Text(statement.policy_sha256.to_string())),
        ]),
        DecisionField::Rules => FactNode::maps(statement.rules().iter().map(rule)),
        DecisionField::Violations => {
            FactNode::maps(statement.violations.iter().take(show.violations_max()).map(violation))
        }
        DecisionField::ViolationsTotal => FactNode::Uint(count(statement.violations.len())),
        DecisionField::Gate => authority::gate_answer(statement.rationale, show),
        DecisionField::Permission => authority::permission_answer(statement.rationale, show),
        DecisionField::Ais => authority::ais_answer(statement.rationale, show),
    }
}

fn run_fact(
    field: RunField,
    statement: &Statement<'_>,
    files: &RequestFiles<'_>,
    (show, tool): (Redaction, &ToolRedaction),
) -> FactNode {
    let time =
        |at: Option<model::UtcTime>| at.map_or(FactNode::Null, |at| FactNode::text(at.to_string()));
    let collected = statement.run.map(|ran| &ran.finished.collected);
    let rejected = collected.map_or(&[][..], |collected| &collected.rejected);
    let object = |object: &sandbox::report::RejectedObject| {
        vec![
            ("path", tool.text_node(&object.path)),
            ("reason", FactNode::Keyword(object.reason.as_str())),
        ]
    };
    match field {
        RunField::StartedUtc => time(statement.run.map(|ran| ran.started)),
        RunField::EndedUtc => time(statement.run.map(|ran| ran.ended)),
        RunField::Limits => {
            let limits = statement.confinement().map_or(&[][..], |confinement| &confinement.limits);
            FactNode::maps(limits.iter().map(limit))
        }
        RunField::Confinement => {
            statement.confinement().map_or(FactNode::Null, |layers| confinement(layers, show))
        }
        RunField::Accounting => accounting(statement),
        RunField::Denials => denials(statement),
        RunField::Network => statement.network.to_node(show, tool),
        RunField::Streams => streams(statement),
        RunField::Rejected => {
            FactNode::maps(tool_text::listed_objects(rejected).iter().map(object))
        }
        RunField::RejectedTotal => FactNode::Uint(count(rejected.len())),
        RunField::Missing => show.exact_list_node(&statement.missing()),
        RunField::CollectionComplete => {
            collected.map_or(FactNode::Null, |all| FactNode::Bool(all.complete))
        }
        RunField::Files => file_rows(files, show),
    }
}

fn limit(limit: &EffectiveLimit) -> FactMap {
    vec![
        ("name", FactNode::Keyword(limit.name.as_str())),
        ("mechanism", FactNode::Keyword(limit.mechanism.as_str())),
        ("asked", FactNode::Uint(limit.requested)),
        ("in_force", FactNode::Uint(limit.effective)),
    ]
}

fn confinement(layers: &Confinement, show: Redaction) -> FactNode {
    let namespace = |(kind, inode): &(String, u64)| {
        vec![("kind", FactNode::text(kind)), ("inode", FactNode::Uint(*inode))]
    };
    let digests =
        layers.seccomp_sha256.iter().map(|sha256| Sha256::from_bytes(*sha256).to_string());
    // Sixteen digits, as in /proc/PID/status.
    let mask = |set: u64| FactNode::Text(format!("{set:016x}"));
    FactNode::Map(vec![
        ("mode", FactNode::Keyword(layers.mode.as_str())),
        ("uid", FactNode::Uint(layers.uid.into())),
        (
            "groups",
            FactNode::List(
                layers.groups.iter().map(|group| FactNode::Uint((*group).into())).collect(),
            ),
        ),
        ("namespaces", FactNode::maps(layers.namespaces.iter().map(namespace))),
        (
            "landlock",
            FactNode::Map(vec![
                ("abi", FactNode::Uint(layers.landlock_abi.into())),
                ("handled", FactNode::texts(&layers.landlock_handled)),
            ]),
        ),
        (
            "seccomp",
            FactNode::Map(vec![
                ("mode", FactNode::Uint(layers.seccomp_mode.into())),
                ("sha256", FactNode::texts(digests)),
            ]),
        ),
        ("no_new_privs", FactNode::Bool(layers.no_new_privs)),
        (
            "capabilities",
            FactNode::Map(vec![
                ("inheritable", mask(layers.capabilities.inheritable)),
                ("permitted", mask(layers.capabilities.permitted)),
                ("effective", mask(layers.capabilities.effective)),
                ("bounding", mask(layers.capabilities.bounding)),
                ("ambient", mask(layers.capabilities.ambient)),
            ]),
        ),
        ("mounts_sha256", FactNode::Text(Sha256::from_bytes(layers.mounts_sha256).to_string())),
        ("degraded", show.exact_list_node(&layers.degraded)),
    ])
}

/// Returns `null` if nothing ran; all values are unknown if something may have run.
fn accounting(statement: &Statement<'_>) -> FactNode {
    let used = match statement.run {
        Some(ran) => ran.finished.accounting,
        None if statement.outcome == Outcome::Indeterminate => Accounting::default(),
        None => return FactNode::Null,
    };
    let sampled = match used.memory_peak_bytes {
        Some(_) => FactNode::Bool(used.memory_peak_sampled),
        None => FactNode::Keyword("unknown"),
    };
    FactNode::Map(vec![
        ("wall_us", FactNode::count(used.wall_us)),
        ("cpu_user_us", FactNode::count(used.cpu_user_us)),
        ("cpu_system_us", FactNode::count(used.cpu_system_us)),
        ("memory_peak_bytes", FactNode::count(used.memory_peak_bytes)),
        ("memory_peak_sampled", sampled),
        ("oom_kills", FactNode::count(used.oom_kills)),
        ("pids_peak", FactNode::count(used.pids_peak)),
        ("pids_refused", FactNode::count(used.pids_refused)),
        ("switches_voluntary", FactNode::count(used.switches_voluntary)),
        ("switches_forced", FactNode::count(used.switches_forced)),
        ("blocks_in", FactNode::count(used.blocks_in)),
        ("blocks_out", FactNode::count(used.blocks_out)),
        ("out_bytes", FactNode::count(used.out_bytes)),
    ])
}

/// Returns the denied actions that are observable from outside the sandbox. Access to a missing or
/// denied file leaves no trace, so that value is `not observable` instead of `none`.
fn denials(statement: &Statement<'_>) -> FactNode {
    let Some(ran) = statement.run else {
        return match statement.outcome {
            Outcome::Indeterminate => FactNode::Keyword("unknown"),
            _ => FactNode::Null,
        };
    };
    let row = |denied: &DeniedCall| {
        vec![("name", FactNode::text(&denied.name)), ("count", FactNode::Uint(denied.count))]
    };
    let violation = ran.finished.violation.as_deref();
    FactNode::Map(vec![
        ("calls", FactNode::maps(ran.finished.denied.iter().map(row))),
        ("violation", violation.map_or(FactNode::Null, FactNode::text)),
        ("files", FactNode::Keyword("not observable")),
        ("landlock", FactNode::Keyword("not observable")),
    ])
}

fn streams(statement: &Statement<'_>) -> FactNode {
    // Without a run the streams are empty files. The output of a lost run is unknown.
    let lost = statement.outcome == Outcome::Indeterminate;
    let bytes = |stream: Option<Stream>| {
        let produced = stream.map_or((!lost).then_some(0), |stream| Some(stream.produced_bytes));
        FactNode::Map(vec![
            ("kept_bytes", FactNode::Uint(stream.map_or(0, |stream| stream.kept_bytes))),
            ("produced_bytes", FactNode::count(produced)),
        ])
    };
    let finished = statement.run.map(|ran| ran.finished);
    FactNode::Map(vec![
        ("stdout", bytes(finished.map(|run| run.stdout))),
        ("stderr", bytes(finished.map(|run| run.stderr))),
    ])
}

fn file_rows(files: &RequestFiles<'_>, show: Redaction) -> FactNode {
    let row = |row: &RequestFileRow<'_>| {
        let mut map = vec![
            ("path", show.exact_node(&format!("request/{}", row.stored_as))),
            ("sha256", FactNode::Text(Sha256::of(row.bytes).to_string())),
            ("size_bytes", FactNode::Uint(count(row.bytes.len()))),
        ];
        map.extend(row.name.iter().map(|name| ("name", show.exact_node(name))));
        map
    };
    FactNode::maps(files.rows().iter().map(row))
}

fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}
