//! Front matter, sections and text of a request: for every code, a text that violates the rule.

use crate::support;
use model::Sha256;
use support::{ID, checked, errors, expect, now, valid, warnings, with};
use validator::{Draft, FileLocation, OwnerUid, REQUEST_BYTES_MAX, RiskLevel, Sensitivity};

#[test]
fn the_seeds_example_is_valid() {
    let checked = checked(valid());
    assert!(checked.violations.is_empty(), "{:#?}", checked.violations);
    let request = checked.verdict.ok().unwrap();
    assert_eq!(request.id().as_str(), ID);
    assert_eq!(request.sha256(), Sha256::of(valid().as_bytes()));
    assert_eq!(request.cpu().as_milli(), 2000);
    assert_eq!(request.inputs()[1].name(), "script.py");
    assert_eq!(request.outputs_expected()[0].path(), "output.json");
    assert!(request.constraints().iter().all(validator::Constraint::is_seed));
    assert_eq!(request.risk().level(), RiskLevel::Low);
    assert_eq!(request.risk().sensitivity(), Sensitivity::Public);
    assert_eq!(request.risk().justification(), "reads one table and writes its mean");
}

#[test]
fn variants_that_are_valid() {
    for (from, to) in [
        ("schema_version: 1", "schema_version: \"1\""),
        ("cpu_limit: \"2\"", "cpu_limit: 0.5"),
        ("network: \"none\"\n", ""),
        ("network_allowlist: []\n", ""),
        (
            "network: \"none\"\nnetwork_allowlist: []",
            "network: \"allowlist\"\nnetwork_allowlist: [a.org]",
        ),
        ("constraints:\n", "backend: ERA\nconstraints:\n"),
        ("constraints:\n", "x-audience: a\nx-agent: {name: a, subject: b}\nconstraints:\n"),
        ("constraints:\n", "x-other: [1, {a: b}]\nconstraints:\n"),
        ("path: \"output.json\"", "path: \"/out/output.json\""),
        ("- `/out/output.json`: the", "| **/out/output.json** | the |"),
        ("Risk level: low`", "Risk level: High`"),
        ("created_utc: \"2026-02-09T16:05:01Z\"", "created_utc: 2026-02-09T16:13:00Z"),
    ] {
        let text = with(from, to);
        let text = if to.contains("[a.org]") {
            text.replace("rationale:` none", "rationale:` reads a table")
        } else {
            text
        };
        assert_eq!(errors(text), [""; 0], "{from:?} -> {to:?}");
    }
    assert_eq!(errors(valid().replace('\n', "\r\n")), [""; 0]);
}

#[test]
fn without_script_py_the_seeds_command_names_an_undeclared_file() {
    let item = format!("  - name: \"script.py\"\n    sha256: \"{}\"\n", support::HASH);
    let text = with(&item, "").replace("- `/in/script.py`\n", "");
    assert_eq!(errors(text), ["command.undeclared-file"]);
}

#[test]
fn front_matter() {
    expect("---\nrequest_type", "request_type", "frontmatter.missing");
    let fenced = with("---\nrequest_type", "```yaml\n---\nrequest_type");
    let fenced = fenced.replace("persistence\"\n---\n", "persistence\"\n---\n```\n");
    assert_eq!(errors(&fenced), ["frontmatter.missing"]);
    assert!(checked(&fenced).violations[0].message.contains("fence"));
    expect("purpose: \"One", "purpose: !x \"One", "frontmatter.syntax");
    expect("purpose: \"One", "purpose: &a \"One", "frontmatter.syntax");
}

#[test]
fn front_matter_keys() {
    expect("language: \"python\"\n", "", "frontmatter.missing-key");
    expect("constraints:\n", "unknown: 1\nconstraints:\n", "frontmatter.unknown-key");
    expect("constraints:\n", "x-: 1\nconstraints:\n", "frontmatter.unknown-key");
    expect(
        "  - name: \"input.csv\"",
        "  - name: \"input.csv\"\n    y: 1",
        "frontmatter.unknown-key",
    );
    expect("constraints:\n", "language: ts\nconstraints:\n", "frontmatter.duplicate-key");
    expect("constraints:\n", "<<: {a: b}\nconstraints:\n", "frontmatter.syntax");
    expect("constraints:\n", "x-a: *b\nconstraints:\n", "frontmatter.syntax");
    expect("memory_limit_mb: 1024", "memory_limit_mb: \"1024\"", "frontmatter.type");
    expect("approved_by: \"alice\"", "approved_by: 1000", "frontmatter.type");
    expect("constraints:\n", "x-requester: [a]\nconstraints:\n", "frontmatter.type");
    expect("constraints:\n", "x-agent: {name: a}\nconstraints:\n", "frontmatter.missing-key");
    expect("network_allowlist: []", "network_allowlist: \"\"", "frontmatter.type");
    expect("purpose: \"One", "purpose: \"\" #\"One", "frontmatter.value");
    expect("purpose: \"One", "purpose: \"\\u202eOne", "frontmatter.value");
    expect("purpose: \"One", "purpose: \"\\u200bOne", "frontmatter.value");
    expect("\"core_draft\"", "\"human|core_draft\"", "frontmatter.value");
    let large = with("constraints:\n", &format!("x-a: {}\nconstraints:\n", "a".repeat(70_000)));
    assert_eq!(errors(large), ["frontmatter.too-large"]);
}

#[test]
fn an_environment_is_a_name_and_a_digest() {
    let hash = support::HASH;
    let text =
        |value: &str| with("constraints:\n", &format!("x-environment: {value}\nconstraints:\n"));
    let request = checked(text(&format!("py3-charts@sha256:{hash}"))).verdict.ok().unwrap();
    let environment = request.environment().unwrap();
    assert_eq!(environment.to_string(), format!("py3-charts@sha256:{hash}"));
    assert_eq!(request.unknown_extensions(), [] as [&str; 0]);
    assert_eq!(checked(valid()).verdict.ok().unwrap().environment(), None);
    let wrong = [
        "charts".to_owned(),
        format!("sha256:{hash}"),
        format!("\"@sha256:{hash}\""),
        format!("charts@{hash}"),
        format!("charts@sha256:{}", &hash[..12]),
        format!("charts@sha256:{hash}0"),
        format!("charts@sha256:{}", hash.to_uppercase()),
        format!("Charts@sha256:{hash}"),
        format!("my_charts@sha256:{hash}"),
        format!("-charts@sha256:{hash}"),
        format!("\"charts @sha256:{hash}\""),
        format!("\" charts@sha256:{hash}\""),
        format!("\"charts@sha256:{hash} \""),
        format!("\"charts@sha256:{hash}\\n\""),
        format!("{}@sha256:{hash}", "n".repeat(41)),
        "\"\"".to_owned(),
    ];
    for value in wrong {
        assert_eq!(errors(text(&value)), ["frontmatter.value"], "{value}");
    }
    for value in ["null", "7", "[charts]", "{name: charts}"] {
        assert_eq!(errors(text(value)), ["frontmatter.type"], "{value}");
    }
    let rows = checked(text("charts")).violations;
    assert!(rows[0].message.starts_with("`x-environment`: `charts` is not "), "{rows:?}");
    assert!(rows[0].hint.as_ref().unwrap().contains("toolexec env show NAME"), "{rows:?}");
}

#[test]
fn every_missing_key_is_named_at_once() {
    let text = with("language: \"python\"\n", "").replace("cpu_limit: \"2\"\n", "");
    let text = text.replace("time_limit_sec: 120", "time_limit_sec: x");
    let rows = checked(text).violations;
    let codes: Vec<_> = rows.iter().map(|row| (row.code.as_str().into_owned(), row.line)).collect();
    let want =
        [("frontmatter.missing-key", 2), ("frontmatter.missing-key", 2), ("frontmatter.type", 13)];
    assert_eq!(codes, want.map(|(code, line)| (code.to_owned(), line)));
}

#[test]
fn the_seeds_lost_indentation_is_explained() {
    let text = with("    sha256: \"", "sha256: \"");
    let rows = checked(&text).violations;
    assert!(errors(text).iter().any(|code| code.starts_with("frontmatter.")), "{rows:#?}");
}

#[test]
fn usual_mistakes_have_a_hint() {
    for (from, to, hint) in [
        ("language:", "langauge:", "write `language`"),
        ("purpose: \"One", "purpose: \"One \"good\"", "write `\\\"` for a quotation mark"),
        ("purpose: \"One", "purpose: \"\\d", "write `\\\\` for a backslash"),
        ("purpose: \"One", "purpose: Mean: one #", "quote a value"),
        ("  - name: \"input.csv\"", "\t- name: \"input.csv\"", "indent with spaces"),
        ("approved_by: \"alice\"", "approved_by: \"\"", "toolexec approve"),
    ] {
        let checked = checked(with(from, to));
        let hints: Vec<_> = checked.violations.iter().filter_map(|it| it.hint.as_deref()).collect();
        assert!(hints.iter().any(|it| it.contains(hint)), "{to:?}: {:#?}", checked.violations);
    }
}

#[test]
fn schema_and_approval() {
    expect("tool_request", "tool_result", "schema.request-type");
    expect("schema_version: 1", "schema_version: 2", "schema.version");
    expect(&format!("request_id: \"{ID}\""), "request_id: \"TR-1\"", "schema.request-id");
    expect("created_utc: \"2026-02-09T", "created_utc: \"2026-02-06T", "schema.request-id");
    expect("2026-02-09T16:05:01Z", "2026-02-30T16:05:01Z", "schema.timestamp");
    expect("2026-02-09T16:05:01Z", "2026-02-09 16:05:01Z", "schema.timestamp");
    expect("approved_by: \"alice\"\n", "", "approval.missing");
    expect("\"alice\"", "\"\"", "approval.missing");
    expect("\"2026-02-09T16:12:00Z\"", "", "approval.missing");
    expect("2026-02-09T16:12:00Z", "2026-02-09T16:02:00Z", "approval.date-order");
    expect("2026-02-09T16:12:00Z", "2026-02-09T18:02:01Z", "approval.date-order");
    expect("2026-02-09T16:12:00Z", "2026-02-09T18:02:00Z", "");
}

#[test]
fn the_file_is_named_after_the_id() {
    let check = |place| {
        let draft = Draft::new(valid().into_bytes(), "other.md", OwnerUid::new(0)).unwrap();
        draft.check(place, now())
    };
    let spool = check(FileLocation::Spool);
    assert_eq!(spool.violations[0].code, validator::Code::SchemaFileName);
    assert_eq!(spool.verdict.err().unwrap().request_id().unwrap().as_str(), ID);
    let elsewhere = check(FileLocation::Elsewhere);
    assert_eq!(elsewhere.violations.len(), 1);
    assert!(elsewhere.verdict.is_ok());
}

#[test]
fn language_network_limits_backend() {
    expect("language: \"python\"", "language: perl", "language.unknown");
    for shell in ["shell_forbidden", "sh", "bash"] {
        expect("language: \"python\"", &format!("language: {shell}"), "language.shell");
    }
    expect("network: \"none\"", "network: all", "network.value");
    expect("network_allowlist: []", "network_allowlist: [a.org]", "network.allowlist-unused");
    let open = with("network: \"none\"", "network: allowlist");
    assert_eq!(errors(&open), ["network.allowlist-missing", "risk.network-rationale"]);
    let reason = open.replace("rationale:` none", "rationale:` reads a table");
    assert_eq!(errors(&reason), ["network.allowlist-missing"]);
    let without = reason.replace("network_allowlist: []\n", "");
    assert_eq!(errors(without), ["network.allowlist-missing"]);
    for (host, codes) in [
        ("a.org", ""),
        ("A.org:8443", ""),
        ("10.0.0.1", ""),
        ("https://a.org", "network.host"),
        ("\"*.a.org\"", "network.host"),
        ("a.org/x", "network.host"),
        ("a.org:0", "network.host"),
        ("a.org:70000", "network.host"),
        ("\"127.1\"", "network.host"),
        ("-a.org", "network.host"),
        ("a..org", "network.host"),
        ("a.org.", "network.host"),
        ("\"a.org:\"", "network.host"),
    ] {
        let list = format!("network_allowlist: [{host}]");
        assert_eq!(
            errors(reason.replace("network_allowlist: []", &list)).join(" "),
            codes,
            "{host}"
        );
    }
    for cpu in ["\"0\"", "-1", "\"two\"", "\"1e3\"", "0.0001", "\"\""] {
        expect("cpu_limit: \"2\"", &format!("cpu_limit: {cpu}"), "limits.cpu");
    }
    expect("cpu_limit: \"2\"", "cpu_limit: [2]", "frontmatter.type");
    for value in ["0", "-1", "1.5", "99999999999999999999", "007"] {
        expect("memory_limit_mb: 1024", &format!("memory_limit_mb: {value}"), "limits.memory");
        expect("time_limit_sec: 120", &format!("time_limit_sec: {value}"), "limits.time");
    }
    expect("constraints:\n", "backend: other\nconstraints:\n", "backend.value");
    let monty = valid().replace(&format!("## Command\n\n{}", support::COMMAND), "## Code\n\nx = 1");
    assert_eq!(errors(&monty), ["section.missing", "section.unexpected"]);
}

#[test]
fn inputs_and_outputs() {
    let hash = format!("    sha256: \"{}\"\n", support::HASH);
    expect(&hash, "", "inputs.hash-missing");
    expect(&hash, "    sha256: \"hex...\"\n", "inputs.hash-format");
    let wrong = ["/in/input.csv", "../x", ".x", "a//b", "a b", "a/b/c/d/e/f/g/h/i", "\u{e9}"];
    let wrong_folders = ["/", "a//", "./", "../", ".git/", "a/../b/", "a/b/c/d/e/f/g/h/i/"];
    for name in wrong.into_iter().chain(wrong_folders) {
        let text = with("name: \"input.csv\"", &format!("name: \"{name}\""));
        assert!(errors(text).contains(&"inputs.name".to_owned()), "{name}");
    }
    let text = with("name: \"input.csv\"", "name: \"script.py\"");
    assert!(errors(text).contains(&"inputs.duplicate".to_owned()));
    let text = with("name: \"input.csv\"", "name: \"script.py/x\"");
    assert!(errors(text).contains(&"inputs.duplicate".to_owned()));
    expect("- `/in/script.py`\n", "", "inputs.missing");
    expect("- `/in/script.py`\n", "- /in/script.py\n- /in/x\n", "inputs.undeclared");
    expect("sha256: e3b0", "sha256: 03b0", "inputs.mismatch");
    let path = |path: &str| errors(with("path: \"output.json\"", &format!("path: \"{path}\"")));
    for outside in ["/etc/x", "../x", "/out/../x", "/in/x"] {
        assert!(path(outside).contains(&"outputs.outside-out".to_owned()), "{outside}");
    }
    for wrong in ["", "a/", "/out/", ".x", "a\\\\b"] {
        let errors = path(wrong);
        assert!(errors.contains(&"outputs.path".to_owned()), "{wrong}: {errors:?}");
    }
    expect("- `/out/output.json`: the", "- the", "outputs.path");
    let item = "  - path: \"output.json\"\n    description: \"the statistics\"\n";
    expect(
        item,
        &format!("{item}{}", item.replace("output.json", "/out/output.json")),
        "outputs.duplicate",
    );
    let none = with(item, "").replace("outputs_expected:\n", "outputs_expected: []\n");
    assert_eq!(errors(&none), ["outputs.path"]);
    assert_eq!(errors(none.replace("- `/out/output.json`: the statistics", "None.")), [""; 0]);
}

#[test]
fn sections() {
    expect("## Input Files\n", "", "command.multiple-lines section.missing");
}

#[test]
fn sections_as_markdown_renders_them() {
    expect("## Risk Assessment", "## Command\n\n## Risk Assessment", "section.duplicate");
    expect("## Risk Assessment", "## Notes\n\n## Risk Assessment", "section.unexpected");
    expect("# Statistics of one table", "Statistics\n---", "section.unexpected");
    expect("# Statistics of one table", "> ## Quoted", "section.unexpected");
    let text = with("# Statistics of one table", "```\n");
    assert!(errors(text).contains(&"section.missing".to_owned()));
    let (head, tail) =
        valid().split_once("## Input Files").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let (inputs, rest) = tail.split_once("## Output Expectations").unwrap();
    let swapped = rest.replacen("## Risk", &format!("## Input Files{inputs}## Risk"), 1);
    assert_eq!(errors(format!("{head}## Output Expectations{swapped}")), ["section.order"]);
}

#[test]
fn risk() {
    for line in
        ["* `Risk level: low`\n", "* `Data sensitivity:` public\n", "* `Network rationale:` none\n"]
    {
        expect(line, "", "risk.missing");
    }
    expect("Risk level: low", "Risk level: low|medium|high", "risk.level");
    expect("reads one table and writes its mean", "", "risk.justification");
    expect("sensitivity:` public", "sensitivity:` secret", "risk.sensitivity");
    expect("rationale:` none", "rationale:`", "");
    expect("* `Justification:` reads", "**Justification:** reads", "");
}

#[test]
fn text() {
    expect("One sentence", "One\u{7}sentence", "frontmatter.syntax text.control");
    expect("# Statistics", "# S\u{1b}[31m", "text.control");
    expect("# Statistics", "# S\rT", "text.control");
    expect("---\nrequest_type", "\u{feff}---\nrequest_type", "text.control");
    expect("# Statistics", "# S\u{202e}", "text.bidi");
    expect("# Statistics", "# S\0", "text.nul");
    expect("One sentence", "One\u{200b}sentence", "frontmatter.value text.confusable");
    assert_eq!(warnings(with("# Statistics", "# S\u{200d}")), ["text.confusable"]);
    let mut bytes = valid().into_bytes();
    bytes.extend(b"\xff\xfe");
    assert_eq!(errors(bytes), ["text.not-utf8"]);
    let big = vec![b'a'; REQUEST_BYTES_MAX + 1];
    assert!(Draft::new(big.clone(), "x.md", OwnerUid::new(0)).is_err());
    let rows = validator::lint(&big, "x.md", validator::ApprovalRequirement::Approved, now()).1;
    assert_eq!(rows[0].code.as_str(), "text.too-large");
}

#[test]
fn prose() {
    let line = |text: &str| with("# Statistics of one table", text);
    for order in [
        "pip install numpy",
        "Run `pip install numpy` first.",
        "- npm install x",
        "Then, sudo apt-get install x",
        "Please install numpy with pip.",
        "First python -m pip install x",
    ] {
        assert_eq!(errors(line(order)), ["package.install"], "{order}");
    }
    for mention in ["Nobody may pip install here.", "We do not run pip install numpy."] {
        assert_eq!(errors(line(mention)), [""; 0], "{mention}");
        assert_eq!(warnings(line(mention)), ["package.install"], "{mention}");
    }
    assert_eq!(warnings(line("Reads (/etc/passwd).")), ["path.host"]);
    assert_eq!(warnings(line("Uses /dev/kvm and and/or 3/4")), ["path.device"]);
    assert_eq!(warnings(line("Takes /in/input.csv, /dev/null")), [""; 0]);
    expect("- `/in/script.py`\n", "- `/in/script.py`\n- /etc/hosts\n", "path.host");
}

#[test]
fn secrets() {
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc";
    for (text, kind) in [
        ("AKIAIOSFODNN7EXAMPLE", "aws-key"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", "private-key"),
        ("xoxb-123456789012-abcdef", "slack-token"),
        ("AIza0123456789abcdefghijABCDEFGHIJ01234", "google-key"),
        ("sk_live_0123456789abcdefghij", "stripe-key"),
        ("sk-0123456789abcdefghij", "openai-key"),
        (jwt, "jwt"),
        ("password = hunter2hunter2", "password"),
        ("\"api_key\": \"0123456789abcdef\"", "password"),
        ("Authorization: Bearer 0123456789abcdefghijkl", "bearer"),
        ("https://bob:hunter2@example.org/", "url-password"),
    ] {
        let text = with("# Statistics of one table", &format!("Note {text} here"));
        assert_eq!(errors(text), [format!("secret.{kind}")]);
    }
    for text in [
        "A risk-assessment-of-something-2024-long",
        "password: required here",
        "token=short",
        "a bearer of news",
    ] {
        assert_eq!(errors(with("# Statistics of one table", text)), [""; 0], "{text}");
    }
    expect("One sentence", "\\x41KIAIOSFODNN7EXAMPLE", "secret.aws-key");
    let rows = checked(with("# Statistics", "# password=hunter2hunter2")).violations;
    assert!(!rows[0].message.contains("hunter2"));
}

#[test]
fn the_intent_is_what_the_request_does() {
    let intent = |text: String| checked(text).verdict.ok().unwrap().intent_sha256();
    let base = intent(valid());
    assert_eq!(base, intent(with("\"alice\"", "\"bob\"")));
    assert_eq!(base, intent(with("python -u script.py", "python  '-u' script.py")));
    assert_ne!(base, intent(with("time_limit_sec: 120", "time_limit_sec: 121")));
    assert_ne!(base, intent(with("-u script.py", "script.py")));
    let json = format!(
        "{{\"argv\":[\"python\",\"-u\",\"script.py\",\"--in\",\"/in/input.csv\",\"--out\",\
         \"/out/output.json\"],\"hosts\":[],\"inputs\":{{\"input.csv\":\"{0}\",\"script.py\":\
         \"{0}\"}},\"limits\":{{\"cpu_limit\":\"2\",\"memory_limit_mb\":1024,\"time_limit_sec\":\
         120}},\"network\":\"none\",\"outputs\":[\"output.json\"],\"request_id\":\"{ID}\"}}",
        support::HASH
    );
    assert_eq!(base, Sha256::of(json.as_bytes()));
    // The digest of an environment decides what runs, its name does not.
    let with_environment = |name: &str, digest: &str| {
        let key = format!("x-environment: {name}@sha256:{digest}\nconstraints:\n");
        intent(with("constraints:\n", &key))
    };
    let member = format!("\"environment\":\"{}\",\"hosts\"", support::HASH);
    let json = json.replacen("\"hosts\"", &member, 1);
    assert_eq!(with_environment("charts", support::HASH), Sha256::of(json.as_bytes()));
    assert_eq!(with_environment("plots", support::HASH), Sha256::of(json.as_bytes()));
    assert_ne!(with_environment("charts", &"0".repeat(64)), Sha256::of(json.as_bytes()));
}

#[test]
fn unused_permissions_are_warnings() {
    let more = |name: &str| {
        with(
            "outputs_expected:\n",
            &format!(
                "  - name: \"{name}\"\n    sha256: \"{}\"\noutputs_expected:\n",
                support::HASH
            ),
        )
        .replace("- `/in/script.py`", &format!("- `/in/script.py`\n- `/in/{name}`"))
    };
    assert_eq!(warnings(more("spare.csv")), ["inputs.unused"]);
    assert_eq!(warnings(more("a/spare.csv")), ["inputs.unused"]);
    for (name, command) in [
        ("module.py", support::COMMAND),
        ("data/spare.csv", "python script.py input.csv --in=/in/data/spare.csv"),
        ("data/spare.csv", "python script.py input.csv data/"),
        ("spare.csv", "python script.py /in"),
        ("spare.csv", "python script.py ."),
        ("spare.csv", "python script.py 'input.csv,spare.csv'"),
    ] {
        let text = more(name).replace(support::COMMAND, command);
        assert_eq!(warnings(&text), [] as [&str; 0], "{name} {command}");
    }
    let host = |rationale: &str| {
        with("network: \"none\"", "network: allowlist")
            .replace("network_allowlist: []", "network_allowlist: [\"data.example.org:8443\"]")
            .replace("rationale:` none", &format!("rationale:` {rationale}"))
    };
    assert_eq!(warnings(host("needs a table")), ["network.host-unused"]);
    assert_eq!(warnings(host("reads a table of Data.Example.org")), [] as [&str; 0]);
}

#[test]
fn hosts_are_written_as_they_are_resolved() {
    let with_host = |host: &str| {
        with("network: \"none\"", "network: allowlist")
            .replace("network_allowlist: []", &format!("network_allowlist: [\"{host}\"]"))
            .replace("rationale:` none", "rationale:` reads a table")
    };
    for (host, codes) in [
        ("b\u{fc}cher.example", "network.host"),
        ("xn--bcher-kva.example", ""),
        ("XN--BCHER-KVA.example:80", ""),
        ("xn--a.example", "network.host"),
        ("xn--.example", "network.host"),
        ("ab--c.example", "network.host"),
        // Cyrillic letters that all look like Latin ones.
        ("xn--80ak6aa92e.com", "text.confusable"),
        ("_dmarc.example", "network.host"),
        ("[::1]", "network.host"),
        ("0x7f.1", "network.host"),
    ] {
        assert_eq!(errors(with_host(host)).join(" "), codes, "{host}");
    }
    let rows = checked(with_host("b\u{fc}cher.example")).violations;
    assert!(rows[0].hint.as_ref().unwrap().contains("xn--bcher-kva.example"), "{rows:?}");
}

#[test]
fn names_that_mislead() {
    expect("approved_by: \"alice\"", "approved_by: \"al\u{456}ce\"", "text.confusable");
    expect("approved_by: \"alice\"", "approved_by: \"\u{412}\u{435}\u{440}\u{430} K.\"", "");
    expect("approved_by: \"alice\"", "approved_by: \"Jos\u{e9} \u{5f35}\u{4e09}\"", "");
    expect("constraints:\n", "x-requester: \"\u{430}lice\"\nconstraints:\n", "text.confusable");
    let prose = with("# Statistics", "# P\u{430}yP\u{430}l statistics");
    assert_eq!((errors(&prose), warnings(&prose)), (vec![], vec!["text.confusable".to_owned()]));
    let science = with(
        "# Statistics",
        "# \u{394}x of 3 \u{3bc}m, \u{41c}\u{43e}\u{441}\u{43a}\u{432}\u{430}",
    );
    assert_eq!(warnings(&science), [] as [&str; 0]);
}

#[test]
fn limits_at_their_ceiling() {
    let warnings_of = |memory_mb| {
        let ceilings = validator::LimitCeilings { cpu_milli: 4000, memory_mb, time_sec: 3600 };
        validator::ceiling_warnings(valid().as_bytes(), ceilings)
    };
    assert_eq!(warnings_of(2048), []);
    let [row] = <[_; 1]>::try_from(warnings_of(1024)).unwrap();
    assert_eq!(row.code, validator::Code::LimitsCeiling);
    assert_eq!((row.severity, row.line), (validator::Severity::Warning, 14));
    assert_eq!(
        validator::ceiling_warnings(
            b"no front matter",
            validator::LimitCeilings { cpu_milli: 1, memory_mb: 1, time_sec: 1 }
        ),
        []
    );
}

#[test]
fn invisible_variation_selectors_are_refused() {
    for c in ["\u{fe01}", "\u{e0101}", "\u{200d}"] {
        let hidden = with("# Statistics", &format!("# pip in{c}stall requests"));
        assert_eq!(errors(hidden), ["text.confusable"], "{c:?}");
        let prose = with("# Statistics", &format!("# a{c} Statistics"));
        assert_eq!(warnings(prose), ["text.confusable"], "{c:?}");
    }
    assert_eq!(warnings(with("# Statistics", "# \u{2764}\u{fe0f} Statistics")), [] as [&str; 0]);
    expect("why execution", "why\u{fe0f} execution", "frontmatter.value text.confusable");
}

#[test]
fn hidden_text_does_not_count() {
    let risk = "* `Risk level: low`\n* `Justification:` reads one table and writes its mean\n\
                * `Data sensitivity:` public\n* `Network rationale:` none\n";
    let text = with(risk, &format!("<!--\n{risk}-->\n\nRisk level is high.\n"));
    assert_eq!(errors(text), ["section.hidden"]);
    expect("- `/in/script.py`", "<p hidden>- `/in/script.py`</p>", "section.hidden");
    expect("the statistics\n\n## Risk", "a <!-- b --> c\n\n## Risk", "section.hidden");
    expect("the statistics\n\n## Risk", "`<mean>`, 1 < 2, <https://example.org>\n\n## Risk", "");
}

#[test]
fn yaml_escapes_cannot_hide_characters() {
    for text in ["the \\u202emean", "a\\x1b[2Jb", "a\\u200b", "a\\0b"] {
        expect("\"the statistics\"", &format!("\"{text}\""), "frontmatter.value");
        expect(
            "constraints:\n",
            &format!("x-a: {{b: [\"{text}\"]}}\nconstraints:\n"),
            "frontmatter.value",
        );
    }
    expect("\"the statistics\"", "\"two\\nlines\"", "");
    for key in ["\"x-\\u202e\"", "x-/etc/passwd", "\"x-a b\"", "x-\u{430}udience"] {
        let text = with("constraints:\n", &format!("{key}: 1\nconstraints:\n"));
        assert!(errors(text).contains(&"frontmatter.unknown-key".to_owned()), "{key}");
    }
}
