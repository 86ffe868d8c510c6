//! Random compositions, as wide as the schema allows, and the valid texts of the other tests. None
//! may be accepted by luck: every composition satisfies every rule of the form.
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use model::{EnvironmentReference, Language, Sha256, UtcTime};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use validator::{
    Backend, ComposedAgent, ComposedInput, ComposedOutput, ComposedRisk, ComposedWork, Composition,
    Constraint, OneLine, RequestedBy, RiskLevel, Sensitivity, quote_words,
};

use crate::support;

/// Pieces with a meaning for readers of YAML, Markdown and shells.
const PIECES: [&str; 44] = [
    "- ",
    "# ",
    "## Command",
    ": ",
    " #",
    "'",
    "\"",
    "\\",
    "---",
    "...",
    "| ",
    "> ",
    "%",
    "@",
    "`",
    "**",
    "_",
    "&a",
    "*b",
    "!t",
    "null",
    "true",
    "1",
    "0x1f",
    "~",
    "<!--",
    "-->",
    "```",
    "{a: b}",
    "[c]",
    "? ",
    ",",
    "=",
    "$(x)",
    "; ",
    "  ",
    "\u{1f600}",
    "é",
    "\u{3000}",
    "\u{a0}",
    "\u{fffd}",
    "\u{10ffff}",
    "Risk level",
    "x-y",
];

/// One line that is not blank and contains no deceptive character.
pub(crate) fn sentence() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => proptest::sample::select(PIECES.to_vec()).prop_map(str::to_owned),
        2 => "[ -~]{0,8}",
        2 => "\\PC{0,8}",
    ];
    vec(piece, 1..6).prop_map(|pieces| pieces.concat()).prop_filter("a line that is told", |text| {
        !text.trim().is_empty() && model::escape_line(text) == *text && !text.contains('\t')
    })
}

fn line(text: &str) -> OneLine {
    text.parse().unwrap()
}

pub(crate) fn lines() -> impl Strategy<Value = OneLine> {
    sentence().prop_map(|text| line(&text))
}

/// An answer as the risk assessment reads it, without surrounding space.
fn answer() -> impl Strategy<Value = OneLine> {
    sentence()
        .prop_map(|text| line(&format!("it {text}").replace("  ", " ")).to_string())
        .prop_flat_map(|text| {
            let whole = text.trim().to_owned();
            // The second begins with a mark.
            prop_oneof![Just(line(&whole)), Just(line(&format!("`{whole}`")))]
        })
}

/// Distinct paths of up to eight components, none below another.
fn paths(most: usize) -> impl Strategy<Value = Vec<String>> {
    let path = vec("[A-Za-z0-9_-][A-Za-z0-9._-]{0,11}[A-Za-z0-9_-]", 1..=8);
    vec(path, 0..=most).prop_map(|paths| {
        let named = |(index, parts): (usize, Vec<String>)| format!("{index}{}", parts.join("/"));
        paths.into_iter().enumerate().map(named).collect()
    })
}

fn inputs() -> impl Strategy<Value = Vec<ComposedInput>> {
    (paths(4), any::<[u8; 32]>()).prop_map(|(paths, digest)| {
        let input = |(index, path): (usize, String)| {
            let sha256 = Sha256::of(&[path.as_bytes(), &digest].concat());
            // Some are folders, but not the script.
            let is_tree = index > 0 && sha256.as_bytes()[0].is_multiple_of(2);
            let name = if is_tree { format!("{path}/") } else { path };
            ComposedInput { name: line(&name), sha256 }
        };
        paths.into_iter().enumerate().map(input).collect()
    })
}

fn outputs() -> impl Strategy<Value = Vec<ComposedOutput>> {
    // Any text: YAML's escapes can encode every character.
    let descriptions = vec(prop_oneof![sentence(), "[ \n\\\\\"a]{0,9}"], 4);
    (paths(4), descriptions).prop_map(|(paths, descriptions)| {
        let output = |(path, description): (String, String)| ComposedOutput {
            path: line(&path),
            description,
            patch_of: None,
        };
        paths.into_iter().zip(descriptions).map(output).collect()
    })
}

/// Makes the first output the patch of the first folder, if both exist.
fn with_patch(outputs: Vec<ComposedOutput>, inputs: &[ComposedInput]) -> Vec<ComposedOutput> {
    let folder = inputs.iter().map(|input| input.name.as_str()).find(|name| name.ends_with('/'));
    let mut outputs = outputs;
    if let (Some(folder), Some(first)) = (folder, outputs.first_mut()) {
        first.patch_of = Some(folder.to_owned());
    }
    outputs
}

fn hosts() -> impl Strategy<Value = Vec<OneLine>> {
    let host = (vec("[a-z0-9]{1,8}(-[a-z0-9]{1,4})?", 0..4), "[a-z]{2,6}", 1..=u16::MAX);
    vec(host, 1..4).prop_map(|hosts| {
        let named = |(index, (labels, last, port)): (usize, (Vec<String>, String, u16))| {
            let labels: String = labels.iter().map(|label| format!("{label}.")).collect();
            line(&format!("h{index}.{labels}{last}:{port}"))
        };
        hosts.into_iter().enumerate().map(named).collect()
    })
}

fn constraints() -> impl Strategy<Value = Vec<OneLine>> {
    let seed = Constraint::SEED.map(line).to_vec();
    prop_oneof![
        Just(Vec::new()),
        Just(seed.clone()),
        vec(lines(), 0..4).prop_map(move |more| [seed.clone(), more].concat()),
    ]
}

/// Words for a tool, without paths, which have their own rules.
fn arguments() -> impl Strategy<Value = Vec<String>> {
    let word = prop_oneof![sentence(), "[ -~]{0,8}"];
    vec(word.prop_map(|word| word.replace(['/', '~', '.'], "_")), 0..5)
}

fn command(language: Language, script: Option<&ComposedInput>, arguments: &[String]) -> OneLine {
    let program = match language {
        Language::Python => "python",
        Language::Node => "node",
        Language::Ts => "ts-node",
        Language::Go => "go",
        Language::Ruby => "ruby",
    };
    let mut words = vec![program.to_owned()];
    match script {
        None => words.push("--version".to_owned()),
        Some(script) => {
            words.extend((language == Language::Go).then(|| "run".to_owned()));
            words.push(format!("/in/{}", script.name));
            words.extend_from_slice(arguments);
        }
    }
    quote_words(&words).unwrap()
}

/// A line of letters of one script, as names must be.
fn names() -> impl Strategy<Value = OneLine> {
    sentence().prop_map(|text| {
        let latin: String = text.chars().map(|c| if c.is_ascii() { c } else { 'é' }).collect();
        line(&latin)
    })
}

fn agent() -> impl Strategy<Value = ComposedAgent> {
    (names(), names(), option::of(names()))
        .prop_map(|(name, subject, accesscontrol)| ComposedAgent { name, subject, accesscontrol })
}

fn environment() -> impl Strategy<Value = EnvironmentReference> {
    ("[a-z0-9][a-z0-9-]{0,39}", any::<[u8; 32]>()).prop_map(|(name, digest)| {
        let (name, sha256) = (name.parse().unwrap(), Sha256::from_bytes(digest));
        EnvironmentReference { name, sha256 }
    })
}

fn risk() -> impl Strategy<Value = ComposedRisk> {
    let level = prop_oneof![Just(RiskLevel::Low), Just(RiskLevel::Medium), Just(RiskLevel::High)];
    let sensitivity = prop_oneof![
        Just(Sensitivity::Public),
        Just(Sensitivity::Internal),
        Just(Sensitivity::Confidential)
    ];
    (level, answer(), sensitivity, answer()).prop_map(
        |(level, justification, sensitivity, network_rationale)| ComposedRisk {
            level,
            justification,
            sensitivity,
            network_rationale,
        },
    )
}

prop_compose! {
    fn identity()(
        slug in "[A-Za-z0-9_-]{1,64}",
        created in 946_684_800_i64..4_102_444_800,
        later in 0_i64..1_000_000,
        approver in names(),
        requested_by in prop_oneof![Just(RequestedBy::Human), Just(RequestedBy::CoreDraft)],
        requester in option::of(names()),
        agent in option::of(agent()),
        audience in option::of(names()),
    ) -> (String, UtcTime, (OneLine, UtcTime), RequestedBy, Option<OneLine>, Option<ComposedAgent>, Option<OneLine>) {
        let (created, approved) = (UtcTime::from_unix(created), UtcTime::from_unix(created + later));
        let id = format!("TR-{}-{slug}", created.compact());
        (id, created, (approver, approved), requested_by, requester, agent, audience)
    }
}

prop_compose! {
    /// An approved composition that violates no rule of the form.
    pub(crate) fn composition()(
        (id, created, approval, requested_by, requester, agent, audience) in identity(),
        purpose in lines(),
        language in proptest::sample::select(Language::ALL.to_vec()),
        backend in option::of(prop_oneof![Just(Backend::Era), Just(Backend::Confined)]),
        hosts in option::of(hosts()),
        (milli, memory_limit_mb, time_limit_sec) in
            (1_u32..=65_536_000, 1_u64..=1 << 30, 1_u64..=366 * 24 * 3600),
        (inputs, outputs_expected, constraints) in (inputs(), outputs(), constraints()),
        arguments in arguments(),
        risk in risk(),
        (environment, has_patch) in (option::of(environment()), any::<bool>()),
    ) -> Composition {
        let outputs_expected = match has_patch {
            true => with_patch(outputs_expected, &inputs),
            false => outputs_expected,
        };
        Composition {
            id: id.parse().unwrap(),
            created,
            requested_by,
            approval: Some(approval),
            purpose,
            language,
            backend,
            hosts,
            cpu: line(&cores(milli)),
            memory_limit_mb,
            time_limit_sec,
            work: ComposedWork::Command(command(language, inputs.first(), &arguments)),
            inputs,
            outputs_expected,
            constraints,
            risk,
            requester,
            agent,
            audience,
            standing: None,
            environment,
        }
    }
}

fn cores(milli: u32) -> String {
    let text = format!("{}.{:03}", milli / 1000, milli % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns the valid request of the other tests in every spelling that they accept.
pub(crate) fn accepted_texts() -> Vec<String> {
    let environment = format!("x-environment: charts@sha256:{}\nconstraints:\n", support::HASH);
    let edits = [
        ("schema_version: 1", "schema_version: \"1\""),
        ("cpu_limit: \"2\"", "cpu_limit: 0.5"),
        ("network: \"none\"\n", ""),
        ("network_allowlist: []\n", ""),
        ("network_allowlist: []", "network_allowlist: [ ]  # none"),
        ("constraints:\n", "backend: ERA\nconstraints:\n"),
        ("constraints:\n", "x-audience: a\nx-agent: {name: a, subject: b}\nconstraints:\n"),
        ("constraints:\n", "x-agent: {name: a, subject: b, accesscontrol: null}\nconstraints:\n"),
        ("constraints:\n", "x-requester: 'it''s: me'\nx-other: [1, {a: b}]\nconstraints:\n"),
        ("constraints:\n", environment.as_str()),
        ("name: \"input.csv\"", "name: \"input.csv/\""),
        ("path: \"output.json\"", "path: \"/out/output.json\""),
        ("- `/out/output.json`: the", "| **/out/output.json** | the |"),
        ("Risk level: low`", "Risk level: High`"),
        ("created_utc: \"2026-02-09T16:05:01Z\"", "created_utc: 2026-02-09T16:13:00Z"),
        ("approved_by: \"alice\"", "approved_by: |-\n  alice"),
        (
            "description: \"the statistics\"",
            "description: |\n      the\n\n      \\\"statistics\\\"",
        ),
        ("description: \"the statistics\"", "description: \"a\\n\\uFFFE\""),
        ("reads one table", "reads `one`\n  table\n      - and `writes`"),
        ("`Network rationale:` none", "`Network rationale:`"),
        ("# Statistics of one table", "# Statistics\n\nProse, with `marks` and `<b>tags</b>`."),
    ];
    let mut texts: Vec<String> = edits.iter().map(|(from, to)| support::with(from, to)).collect();
    texts.push(support::valid());
    texts.push(support::valid().replace('\n', "\r\n"));
    let open = support::with("network: \"none\"", "network: allowlist");
    let open = open.replace("rationale:` none", "rationale:` reads **tables** of A.org");
    let list = "network_allowlist: [A.org, \"a.org:8443\", 10.0.0.1]";
    texts.push(open.replace("network_allowlist: []", list));
    texts.push(support::with_patch("input.csv/"));
    for line in [
        "python script.py '`id`' 'a*b' '$HOME' \"a\\$b\"",
        "python\tscript.py   --a=b  x=1 '' \"it's\" a\\ b",
        "python -c 'print(\"## Input Files\")'",
        "go vet",
    ] {
        texts.push(support::command(line));
    }
    texts
}
