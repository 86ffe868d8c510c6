//! Tasks of the extension `io.modelcontextprotocol/tasks`: a draft as a task, its states, its
//! withdrawal, and its result after restarts.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolexec_tests::{Bench, list, ssh_keygen_works};

use super::agent::{McpTestClient, empty_spool, good, python};
use super::end_to_end::{AgentsPageHost, ON_THE_PAGE, draft};

/// Starts a server with a client that knows tasks and asks its user.
fn start(python: &Path, bench: &Bench, spool: &Path, more: &[&str]) -> McpTestClient {
    let program = bench.scratch().path().join("bin/toolexec");
    let program = program.to_str().unwrap();
    let mut words = vec!["--tasks", program, "mcp", "--spool", spool.to_str().unwrap()];
    words.extend(more);
    McpTestClient::start_command(python, &words)
}

/// Drafts, and returns the id of the task.
#[track_caller]
fn begin(agent: &mut McpTestClient, arguments: &Value) -> String {
    let begun = agent.request(&json!({ "begin": "draft_tool_request", "arguments": arguments }));
    let task = &begun["result"];
    assert_eq!(task["resultType"], "task", "{begun}");
    assert_eq!(task["status"], "working", "{begun}");
    task["taskId"].as_str().unwrap().to_owned()
}

#[track_caller]
fn ask(agent: &mut McpTestClient, method: &str, id: &str, more: Value) -> Value {
    let mut params = more;
    params["taskId"] = id.into();
    let answer = agent.request(&json!({ "task": method, "params": params }));
    assert!(answer["result"].is_object(), "{answer}");
    answer["result"].clone()
}

#[track_caller]
fn task(agent: &mut McpTestClient, id: &str) -> Value {
    ask(agent, "tasks/get", id, json!({}))
}

#[test]
fn a_draft_is_a_task_that_its_agent_can_withdraw() {
    let Some(python) = python("a_draft_is_a_task_that_its_agent_can_withdraw") else { return };
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    let mut first = start(&python, &bench, &spool, &["--agent", "core"]);
    let id = begin(&mut first, &good());
    assert!(spool.join(format!("drafts/{id}.md")).is_file());
    first.disconnect();

    // Another server answers for the task.
    let mut agent = start(&python, &bench, &spool, &["--agent", "core"]);
    let asked = task(&mut agent, &id);
    assert_eq!(asked["status"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["draft"];
    assert_eq!(question["method"], "elicitation/create", "{asked}");
    assert!(question["params"]["message"].as_str().unwrap().contains(&id), "{asked}");
    let answer = json!({ "inputResponses": { "draft": { "action": "accept", "content": {} } } });
    ask(&mut agent, "tasks/update", &id, answer);
    let waiting = task(&mut agent, &id);
    assert_eq!(waiting["status"], "working", "an answer approves nothing: {waiting}");
    assert!(waiting["statusMessage"].as_str().unwrap().contains("a person approves"), "{waiting}");

    ask(&mut agent, "tasks/cancel", &id, json!({}));
    assert_eq!(task(&mut agent, &id)["status"], "cancelled");
    let left = [format!("{id}.answered-draft"), format!("{id}.withdrawn")];
    assert_eq!(list(&spool.join("drafts")), left);
    let status = agent.call("request_status", json!({ "id": id }));
    assert_eq!(status.assert_good().structured["state"], "withdrawn");
    for unknown in ["TR-20260209-160501Z-never-drafted", "../../etc/passwd", ""] {
        let answer =
            agent.request(&json!({ "task": "tasks/get", "params": { "taskId": unknown } }));
        assert_eq!(answer["code"], -32602, "{answer}");
    }
    agent.disconnect();
}

#[test]
fn declining_the_question_withdraws_the_draft() {
    let Some(python) = python("declining_the_question_withdraws_the_draft") else { return };
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    let mut agent = start(&python, &bench, &spool, &["--agent", "core"]);
    let id = begin(&mut agent, &good());
    let other = json!({ "inputResponses": { "another": { "action": "decline" } } });
    ask(&mut agent, "tasks/update", &id, other);
    assert_eq!(task(&mut agent, &id)["status"], "input_required", "an unknown key is ignored");
    let answer = json!({ "inputResponses": { "draft": { "action": "decline" } } });
    ask(&mut agent, "tasks/update", &id, answer);
    assert_eq!(task(&mut agent, &id)["status"], "cancelled");
    agent.disconnect();
}

#[test]
fn another_agents_draft_is_not_withdrawn() {
    let Some(python) = python("another_agents_draft_is_not_withdrawn") else { return };
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    let mut owner = start(&python, &bench, &spool, &["--agent", "core"]);
    let id = begin(&mut owner, &good());
    owner.disconnect();
    let unnamed: &[&str] = &[];
    for options in [&["--agent", "other"], unnamed] {
        let mut agent = start(&python, &bench, &spool, options);
        ask(&mut agent, "tasks/cancel", &id, json!({}));
        assert_eq!(task(&mut agent, &id)["status"], "input_required");
        agent.disconnect();
    }
    assert!(spool.join(format!("drafts/{id}.md")).is_file());
}

#[test]
fn a_client_without_tasks_gets_the_id() {
    let Some(python) = python("a_client_without_tasks_gets_the_id") else { return };
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    let mut agent = McpTestClient::start(&python, &bench, &spool, &[]);
    let written = agent.call("draft_tool_request", good());
    let id = written.assert_good().structured["request_id"].as_str().unwrap();
    let answer = agent.request(&json!({ "task": "tasks/get", "params": { "taskId": id } }));
    assert_eq!(answer["code"], -32021, "the client did not declare the extension: {answer}");
    agent.disconnect();
}

#[test]
fn a_task_survives_restarts_and_ends_with_the_result() {
    let test = "a_task_survives_restarts_and_ends_with_the_result";
    let Some(python) = python(test) else { return };
    if !ssh_keygen_works(test) {
        return;
    }
    let bench = Bench::new();
    let mut host = AgentsPageHost::start(&bench);
    host.run_block("toolexec keys show", &[]);
    let keys = host.localized("/etc/toolexec/result_keys");
    let spool = host.service.spool();
    let options = ["--agent", "core", "--result-keys", keys.as_str()];
    let mut agent = start(&python, &bench, &spool, &options);
    let script = "import sys; open(sys.argv[2], 'w').write('{}'); print('mean 3.0')\n";
    let id = begin(
        &mut agent,
        &draft(json!([
            {"name": "table.csv", "text": "a,b\n1,2\n"}, {"name": "mean.py", "text": script},
        ])),
    );
    let request = [(ON_THE_PAGE, id.as_str())];
    host.run_block("toolexec review", &request);
    host.run_block("toolexec approve", &request);
    let held = format!("public/held/{id}.md.json");
    host.service.wait_for("the request to be held", |service| service.path(&held).is_file());
    // While the daemon decides about the request anew, it is not reported as held.
    let asked = until(&mut agent, &id, |found| found["inputRequests"]["held"].is_object());
    assert!(asked["statusMessage"].as_str().unwrap().contains("permission.requestable"), "{asked}");
    // A submitted request is not cancelled by its agent.
    ask(&mut agent, "tasks/cancel", &id, json!({}));
    assert!(task(&mut agent, &id)["statusMessage"].as_str().unwrap().contains("only an operator"));
    agent.disconnect();
    host.service.signal("TERM");
    assert_eq!(host.service.wait(), Some(0));
    host.service.spawn();

    let questions = list(&host.service.path("drafts/permissions"));
    let question = questions.iter().find_map(|name| name.strip_suffix(".json")).unwrap();
    host.run_block("toolexec permission set", &[("PR-…", question)]);
    let mut agent = start(&python, &bench, &spool, &options);
    let ended = until(&mut agent, &id, |found| found["result"].is_object());
    assert_eq!(ended["status"], "completed", "{ended}");
    assert_ne!(ended["result"]["isError"], true, "{ended}");
    let texts = ended["result"]["content"].as_array().unwrap();
    let facts: Value = serde_json::from_str(texts[0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(facts["verification"]["state"], "verified", "{facts:#}");
    assert!(texts.iter().any(|it| it["text"].as_str().unwrap().contains("mean 3.0")), "{ended}");
    ask(&mut agent, "tasks/cancel", &id, json!({}));
    assert_eq!(task(&mut agent, &id)["status"], "completed");
    agent.disconnect();
    assert!(fs::read_dir(host.service.path("results")).unwrap().next().is_some());
}

/// Polls the task until it is so.
#[track_caller]
fn until(agent: &mut McpTestClient, id: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let found = task(agent, id);
        if is_so(&found) {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{found}");
        thread::sleep(Duration::from_millis(100));
    }
}
