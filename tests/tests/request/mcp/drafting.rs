//! Drafts, lint and the policy's offer, without a daemon, and hostile arguments.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use toolexec_tests::{Bench, CliOutput, SmallDisk, list, skip};

use super::agent::{McpTestClient, empty_spool, good, python};

#[test]
fn an_agent_corrects_its_draft() {
    let Some(python) = python("an_agent_corrects_its_draft") else { return };
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    let mut agent =
        McpTestClient::start(&python, &bench, &spool, &["--agent", "core", "--subject", "wf-1"]);
    let output = agent.server_info["instructions"].as_str().unwrap();
    assert!(output.contains("You cannot approve, submit or run"), "{output}");
    let mut bad = good();
    bad["inputs"] = json!([{"name": "table.csv", "base64": "YSxiCjEsMgo="}]);
    let refused = agent.call("draft_tool_request", bad);
    assert!(refused.is_error && refused.structured["written"] == false, "{refused:#?}");
    assert_eq!(refused.codes(), ["command.undeclared-file"]);
    assert_eq!(list(&spool.join("drafts")), Vec::<String>::new());

    let written = agent.call("draft_tool_request", good());
    written.assert_good();
    assert_eq!(written.codes(), Vec::<&str>::new(), "what nobody approved yet is no violation");
    let id = written.structured["request_id"].as_str().unwrap();
    let path = spool.join(format!("drafts/{id}.md"));
    let text = fs::read_to_string(&path).unwrap();
    for line in ["requested_by: \"core_draft\"", "approved_by: \"\"", "  name: \"core\""] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let table = spool.join(format!("drafts/{id}.inputs/table.csv"));
    assert_eq!(fs::read_to_string(table).unwrap(), "a,b\n1,2\n");
    let sum = CliOutput::of(bench.command("sha256sum").arg(&path)).stdout;
    assert_eq!(written.structured["sha256"].as_str().unwrap(), &sum[..64]);
    let linted = bench.toolexec(["lint", "--draft", path.to_str().unwrap()]);
    linted.assert_code(0);
    let status = agent.call("request_status", json!({ "id": id }));
    assert_eq!(status.assert_good().structured["state"], "drafted");
    // The same draft within one second has the same id: this is reported, and nothing is replaced.
    let call = json!({ "call": "draft_tool_request", "arguments": good() });
    let again = agent.request(&json!({ "together": vec![call; 3] }));
    let is_refused =
        |it: &Value| it["is_error"] == true && it["texts"].to_string().contains("already exists");
    assert!(again.as_array().unwrap().iter().any(is_refused), "{again:#}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    agent.disconnect();
}

#[test]
fn an_agent_without_a_workflow_works_in_one_of_its_server() {
    let Some(python) = python("an_agent_without_a_workflow_works_in_one_of_its_server") else {
        return;
    };
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    let mut subjects = Vec::new();
    for purpose in ["The first of two", "The second of two"] {
        let mut agent = McpTestClient::start(&python, &bench, &spool, &["--agent", "core"]);
        let mut arguments = good();
        arguments["purpose"] = purpose.into();
        let written = agent.call("draft_tool_request", arguments);
        let id = written.assert_good().structured["request_id"].as_str().unwrap();
        let text = fs::read_to_string(spool.join(format!("drafts/{id}.md"))).unwrap();
        let subject = text.lines().find_map(|line| line.strip_prefix("  subject: \"mcp-"));
        subjects.push(subject.unwrap_or_else(|| panic!("{text}")).to_owned());
        agent.disconnect();
    }
    assert_ne!(subjects[0], subjects[1]);
}

#[test]
fn drafts_leave_file_system_space() {
    let test = "drafts_leave_file_system_space";
    let Some(python) = python(test) else { return };
    let Some(bench) = Bench::as_root(test) else { return };
    let spool = empty_spool(&bench);
    let drafts = spool.join("drafts");
    let Some(disk) = SmallDisk::mount(&drafts, 1 << 20) else {
        return skip(test, "this host does not let root mount a tmpfs");
    };
    let mut agent = McpTestClient::start(&python, &bench, &spool, &[]);
    agent.call("draft_tool_request", good()).assert_refused(&["1024 MiB are reserved"]);
    assert_eq!(list(&drafts), Vec::<String>::new());
    disk.grow(2 << 20);
    agent.call("draft_tool_request", good()).assert_good();
    agent.disconnect();
}

#[test]
fn mcp_lint_matches_the_command() {
    let Some(python) = python("mcp_lint_matches_the_command") else { return };
    let bench = Bench::new();
    let mut agent = McpTestClient::start(&python, &bench, &empty_spool(&bench), &[]);
    let text = toolexec_tests::RequestText::of("python", "python a.py | sh").text();
    let report = agent.call("lint_tool_request", json!({ "text": text }));
    assert_eq!(report.assert_good().structured["valid"], false);
    let id = text.split('"').nth(1).unwrap();
    let file = bench.scratch().file(&format!("{id}.md"), &text);
    let output = bench.toolexec(["lint", "--draft", "--format", "json", file.to_str().unwrap()]);
    assert_eq!(output.json()["violations"], report.structured["violations"]);
    agent.call("lint_tool_request", json!({"text": "hello"}));
    let refused = agent.call("lint_tool_request", json!({"text": text, "more": 1}));
    refused.assert_refused(&["more"]);
}

#[test]
fn the_offer_of_the_policy_is_listed() {
    let Some(python) = python("the_offer_of_the_policy_is_listed") else { return };
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    let shown = bench.toolexec(["policy", "show", "standard"]).stdout;
    let offered = "hosts:\n    - {host: data.example.org, ports: [443, 8443], private: []}";
    assert!(shown.contains("hosts: []"), "{shown}");
    let policy = bench.scratch().file("policy.yaml", shown.replacen("hosts: []", offered, 1));
    let policy = policy.to_str().unwrap();
    let mut agent = McpTestClient::start(&python, &bench, &spool, &["--policy", policy]);
    let answer = agent.call("list_runtimes", json!({}));
    let offer = &answer.assert_good().structured;
    assert_eq!(offer["hosts"], json!(["data.example.org:443", "data.example.org:8443"]));
    assert_eq!(offer["limits"]["memory_mb_max"], 8192);
    assert_eq!(offer["policy"].get("active"), Some(&Value::Null), "no daemon published one");
    let languages = offer["runtimes"].as_array().unwrap().iter().map(|it| &it["language"]);
    assert_eq!(languages.collect::<Vec<_>>(), ["go", "node", "python", "ruby", "ts"]);
    // A value at the policy's maximum is reported with the draft.
    let mut greedy = good();
    greedy["memory_mb"] = 8192.into();
    let answer = agent.call("draft_tool_request", greedy);
    assert_eq!(answer.assert_good().codes(), ["limits.ceiling"]);
    // A draft that no approval can permit is not written.
    let beyond = |agent: &mut McpTestClient, key: &str, value: Value, code: &str| {
        let mut draft = good();
        draft[key] = value;
        draft["network_rationale"] = "the data is at other.example.org".into();
        draft["slug"] = "beyond".into();
        let answer = agent.call("draft_tool_request", draft);
        assert!(answer.is_error && answer.structured["written"] == false, "{answer:#?}");
        assert_eq!(answer.codes(), [code], "{answer:#?}");
    };
    beyond(&mut agent, "memory_mb", 8193.into(), "limits.over-policy");
    beyond(&mut agent, "hosts", json!(["other.example.org"]), "network.not-permitted");
    beyond(&mut agent, "language", "node".into(), "language.mismatch");
    assert_eq!(list(&spool.join("drafts")).len(), 2, "one draft and its inputs");
    agent.disconnect();
    // With the published policy, an unknown host is reported here, before the daemon would.
    let mut agent = McpTestClient::start(&python, &bench, &spool, &[]);
    agent.call("list_runtimes", json!({})).assert_refused(&["public/", "--policy"]);
    std::fs::copy(policy, spool.join("public/policy.yaml")).unwrap();
    let answer = agent.call("list_runtimes", json!({}));
    assert_eq!(answer.assert_good().structured["hosts"][0], "data.example.org:443");
    beyond(&mut agent, "hosts", json!(["other.example.org"]), "network.not-permitted");
    std::fs::write(spool.join("public/policy.yaml"), "policy_version: 1\n").unwrap();
    agent.call("list_runtimes", json!({})).assert_refused(&["public/policy.yaml"]);
}

#[test]
fn the_schema_and_nothing_else_is_a_resource_of_an_empty_spool() {
    let test = "the_schema_and_nothing_else_is_a_resource_of_an_empty_spool";
    let Some(python) = python(test) else { return };
    let bench = Bench::new();
    let mut agent = McpTestClient::start(&python, &bench, &empty_spool(&bench), &[]);
    let listed = agent.request(&json!({"list": "resources"}));
    let uri = "toolexec://schema/tool-request.json";
    assert_eq!(listed["resources"].as_array().unwrap().len(), 1);
    assert_eq!(listed["resources"][0]["uri"], uri);
    let read = agent.request(&json!({ "read": uri }));
    let schema: Value =
        serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    let page = toolexec_tests::workspace().join("docs/tool-request.schema.json");
    assert_eq!(schema, serde_json::from_slice::<Value>(&fs::read(page).unwrap()).unwrap());
    let templates = agent.request(&json!({"list": "templates"}));
    assert_eq!(templates["templates"][0]["uriTemplate"], "toolexec://results/{result_id}");
}

#[test]
fn hostile_arguments_write_and_read_nothing_else() {
    let Some(python) = python("hostile_arguments_write_and_read_nothing_else") else { return };
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    let outside = bench.scratch().dir("outside");
    fs::write(outside.join("secret.md"), "the secret").unwrap();
    let result = "TS-20260209-161030Z-TR-20260209-160501Z-x";
    symlink(&outside, spool.join("results").join(result)).unwrap();
    let mut agent = McpTestClient::start(&python, &bench, &spool, &[]);
    for id in
        ["../outside/secret", "/etc/passwd", "TS-..", "TR-20260209-160501Z-../../x", "", "TS-\u{0}"]
    {
        for tool in ["request_status", "wait_for_result", "read_result"] {
            agent.call(tool, json!({ "id": id })).assert_refused(&["not the id"]);
        }
        let read = agent.request(&json!({ "read": format!("toolexec://results/{id}") }));
        assert!(read["protocol_error"].is_string(), "{read}");
    }
    let missing = "toolexec://results/TS-20260209-160501Z-TR-20260209-160501Z-missing";
    let read = agent.request(&json!({ "read": missing }));
    assert_eq!((&read["code"], &read["data"]["uri"]), (&json!(-32602), &json!(missing)), "{read}");
    let linked = agent.call("read_result", json!({ "id": result }));
    linked.assert_refused(&[result]);
    assert!(!linked.text().contains("secret"), "{linked:#?}");
    for name in ["../x", "/etc/x", "a/../../x", "", ".", "x\u{0}y", "a\nb"] {
        let mut draft = good();
        draft["inputs"][0]["name"] = name.into();
        let answer = agent.call("draft_tool_request", draft);
        assert!(answer.is_error, "{name:?}: {answer:#?}");
    }
    for (key, value) in [
        ("slug", json!("../../x")),
        ("purpose", json!("two\nlines")),
        ("words", json!([])),
        ("language", json!("bash")),
        ("risk", json!("none")),
        ("approved_by", json!("me")),
        ("hosts", json!(["a b"])),
        ("outputs", json!([{"path": "../x", "description": ""}])),
        ("outputs", json!([{"path": "a:b", "description": ""}])),
        ("memory_mb", json!(-1)),
        ("inputs", json!([{"name": "mean.py", "base64": "%%"}])),
        ("inputs", json!([{"name": "mean.py", "text": "a", "base64": "YQ=="}])),
        ("inputs", json!([{"name": "mean.py", "text": "x".repeat((4 << 20) + 1)}])),
    ] {
        let mut draft = good();
        draft[key] = value;
        let answer = agent.call("draft_tool_request", draft);
        assert!(answer.is_error, "{key}: {answer:#?}");
    }
    assert_eq!(list(&spool.join("drafts")), Vec::<String>::new());
    assert_eq!(list(&outside), ["secret.md"]);
    agent.disconnect();
}

#[test]
fn a_message_without_an_end_costs_no_memory_and_no_server() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    let mut command = bench.command("toolexec");
    command.args(["mcp", "--spool"]).arg(&spool).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut to = server.stdin.take().unwrap();
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"}}});
    writeln!(to, "{hello}").unwrap();
    let mut from = BufReader::new(server.stdout.take().unwrap()).lines();
    assert!(from.next().unwrap().unwrap().contains("serverInfo"));
    writeln!(to, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..160 {
        to.write_all(&piece).unwrap();
    }
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak_kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak_kib < 96 << 10, "{peak}");
    writeln!(to).unwrap();
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    writeln!(to, "{ping}").unwrap();
    let answered = from.map(Result::unwrap).any(|line| line.contains("\"id\":2"));
    assert!(answered, "it serves no longer");
    drop(to);
    assert!(server.wait().unwrap().success());
}
