//! Subscriptions to tasks: the notifications of one, over stdin and stdout and over HTTP, its
//! refusals, and its limits.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::iter;
use std::net::TcpStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolexec_tests::Bench;

use super::agent::{empty_spool, good};
use super::http::McpHttpServer;
use super::raw_client::{RawMcpClient, client_meta, task_capabilities};

const LISTEN: &str = "subscriptions/listen";
const ID: &str = "TR-20260209-160501Z-mean";
const UNKNOWN: &str = "TR-20260209-160501Z-never-drafted";
const SUBSCRIPTIONS_MAX: usize = 8;

fn to_tasks(ids: &Value) -> Value {
    json!({ "notifications": { "taskIds": ids } })
}

fn is_acknowledgement(message: &Value) -> bool {
    message["method"] == "notifications/subscriptions/acknowledged"
}

/// Returns the subscription that a message belongs to.
fn subscription(data: &Value) -> &Value {
    &data["_meta"]["io.modelcontextprotocol/subscriptionId"]
}

#[track_caller]
fn assert_acknowledged(message: &Value, id: u64, tasks: &Value) {
    assert!(is_acknowledgement(message), "{message}");
    assert_eq!(message["params"]["notifications"], json!({ "taskIds": tasks }), "{message}");
    assert_eq!(subscription(&message["params"]), id, "{message}");
}

/// Returns the next state of a task with this status.
#[track_caller]
fn state(agent: &mut RawMcpClient, subscribed: u64, status: &str) -> Value {
    let mut message = agent.first(|message| {
        message["method"] == "notifications/tasks" && message["params"]["status"] == status
    });
    assert_eq!(subscription(&message["params"]), subscribed, "{message}");
    message["params"].take()
}

/// Returns the state without that which belongs to its message only.
fn plain(mut state: Value) -> Value {
    let members = state.as_object_mut().unwrap();
    members.remove("_meta");
    members.remove("resultType");
    state
}

fn put_draft(spool: &Path) {
    fs::write(spool.join(format!("drafts/{ID}.md")), "").unwrap();
}

/// Takes the draft back as its own server would.
fn withdraw(spool: &Path) {
    let drafts = spool.join("drafts");
    fs::rename(drafts.join(format!("{ID}.md")), drafts.join(format!("{ID}.withdrawn"))).unwrap();
}

#[test]
fn a_subscription_sends_each_state_of_its_task_until_it_ends() {
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    let mut agent = RawMcpClient::start(&bench, &spool);
    let call = json!({ "name": "draft_tool_request", "arguments": good() });
    let drafted = agent.begin_modern("tools/call", call);
    let task = agent.result(drafted)["taskId"].clone();
    let id = task.as_str().unwrap();
    let named = json!([id, UNKNOWN, "../../etc/passwd", id]);
    let subscribed = agent.begin_modern(LISTEN, to_tasks(&named));
    let first = agent.first(|_| true);
    assert_acknowledged(&first, subscribed, &json!([id]));

    let asked = state(&mut agent, subscribed, "input_required");
    assert!(asked["inputRequests"]["draft"].is_object(), "{asked}");
    let polled = agent.begin_modern("tasks/get", json!({ "taskId": id }));
    assert_eq!(plain(asked), plain(agent.result(polled)));

    let answer = json!({ "draft": { "action": "accept", "content": {} } });
    let answered = json!({ "taskId": id, "inputResponses": answer });
    let updated = agent.begin_modern("tasks/update", answered);
    agent.result(updated);
    state(&mut agent, subscribed, "working");

    let held = json!({
        "since_utc": "2026-02-09T16:05:01Z",
        "until_utc": "2026-02-10T16:05:01Z",
        "waits_for": [{ "code": "approval.missing", "message": "one signature" }],
    });
    let file = spool.join(format!("public/held/{id}.md.json"));
    fs::create_dir(spool.join("public/held")).unwrap();
    fs::write(spool.join("public/held.new"), held.to_string()).unwrap();
    fs::rename(spool.join("public/held.new"), &file).unwrap();
    let asked = state(&mut agent, subscribed, "input_required");
    assert!(asked["inputRequests"]["held"].is_object(), "{asked}");
    assert!(asked["statusMessage"].as_str().unwrap().contains("approval.missing"), "{asked}");

    fs::remove_file(&file).unwrap();
    let cancelled = agent.begin_modern("tasks/cancel", json!({ "taskId": id }));
    agent.result(cancelled);
    state(&mut agent, subscribed, "cancelled");
    let ended = agent.result(subscribed);
    assert_eq!(ended["resultType"], "complete", "{ended}");
    assert_eq!(subscription(&ended), subscribed, "{ended}");
    agent.disconnect();
}

#[test]
fn a_subscription_is_refused_without_the_extension_or_a_list_of_tasks() {
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    let mut agent = RawMcpClient::start(&bench, &spool);
    let mut params = to_tasks(&json!([ID]));
    params["_meta"] = client_meta(json!({}));
    let id = agent.begin(LISTEN, &params);
    assert_eq!(agent.error_code(id), -32021);
    let too_many: Value = (0..65).map(|number| format!("{ID}-{number}")).collect();
    for wrong in [json!(ID), json!([1]), json!({}), Value::Null, too_many] {
        let id = agent.begin_modern(LISTEN, to_tasks(&wrong));
        assert_eq!(agent.error_code(id), -32602, "{wrong}");
    }
    // The server has nothing else to subscribe to.
    for other in [json!({}), json!({ "toolsListChanged": true })] {
        let id = agent.begin_modern(LISTEN, json!({ "notifications": other }));
        assert_eq!(agent.error_code(id), -32601, "{other}");
    }
    for none in [json!([]), json!([UNKNOWN])] {
        let id = agent.begin_modern(LISTEN, to_tasks(&none));
        let acknowledged = agent.first(is_acknowledgement);
        assert_acknowledged(&acknowledged, id, &json!([]));
        assert_eq!(agent.result(id)["resultType"], "complete", "no task can change");
    }
    agent.disconnect();
}

#[test]
fn a_cancelled_subscription_makes_room_for_another() {
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    put_draft(&spool);
    let mut agent = RawMcpClient::start(&bench, &spool);
    let open: Vec<u64> = (0..SUBSCRIPTIONS_MAX)
        .map(|_| {
            let id = agent.begin_modern(LISTEN, to_tasks(&json!([ID])));
            assert_acknowledged(&agent.first(is_acknowledgement), id, &json!([ID]));
            state(&mut agent, id, "input_required");
            id
        })
        .collect();
    let refused = agent.begin_modern(LISTEN, to_tasks(&json!([ID])));
    let refused = agent.response(refused);
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("at most 8"), "{refused}");

    let cancelled = json!({ "requestId": open[0] });
    agent.write(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled,
    }));
    let begun = Instant::now();
    loop {
        let id = agent.begin_modern(LISTEN, to_tasks(&json!([ID])));
        let answer = agent.first(|message| is_acknowledgement(message) || message["id"] == id);
        if is_acknowledgement(&answer) {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{answer}");
        thread::sleep(Duration::from_millis(100));
    }
    withdraw(&spool);
    for id in &open[1..] {
        assert_eq!(agent.result(*id)["resultType"], "complete");
    }
    let late = agent.kept().iter().find(|message| message["id"] == open[0]);
    assert_eq!(late, None, "a cancelled request has no response");
    agent.disconnect();
}

/// Begins a subscription over HTTP with this text as its body.
fn post(server: &McpHttpServer, body: &str) -> BufReader<TcpStream> {
    let (address, path) = server.address_and_path();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nMcp-Method: {LISTEN}\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    BufReader::new(stream)
}

fn http_subscription() -> String {
    let mut params = to_tasks(&json!([ID]));
    params["_meta"] = client_meta(task_capabilities());
    json!({ "jsonrpc": "2.0", "id": 7, "method": LISTEN, "params": params }).to_string()
}

/// Returns the next message of a stream of events, or `None` at its end.
fn event(stream: &mut impl BufRead) -> Option<Value> {
    let mut lines = stream.lines().map_while(Result::ok);
    lines.find_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
}

#[test]
fn a_subscription_over_http_sends_the_states_of_its_task() {
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    put_draft(&spool);
    let program = bench.scratch().path().join("bin/toolexec");
    let server = McpHttpServer::start(&program, &spool);
    let mut stream = post(&server, &http_subscription());
    assert_acknowledged(&event(&mut stream).unwrap(), 7, &json!([ID]));
    let asked = event(&mut stream).unwrap();
    assert_eq!(asked["params"]["status"], "input_required", "{asked}");
    withdraw(&spool);
    let ended = event(&mut stream).unwrap();
    assert_eq!(ended["method"], "notifications/tasks", "{ended}");
    assert_eq!(ended["params"]["status"], "cancelled", "{ended}");
    let last = event(&mut stream).unwrap();
    assert_eq!(last["id"], 7, "{last}");
    assert_eq!(last["result"]["resultType"], "complete", "{last}");
    assert_eq!(event(&mut stream), None);
}

#[test]
fn a_client_that_leaves_over_http_makes_room_for_another() {
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    put_draft(&spool);
    let program = bench.scratch().path().join("bin/toolexec");
    let server = McpHttpServer::start(&program, &spool);
    let open: Vec<_> = (0..SUBSCRIPTIONS_MAX)
        .map(|_| {
            let mut stream = post(&server, &http_subscription());
            assert_acknowledged(&event(&mut stream).unwrap(), 7, &json!([ID]));
            stream
        })
        .collect();
    let is_accepted = || {
        let first = event(&mut post(&server, &http_subscription()));
        first.is_some_and(|message| is_acknowledgement(&message))
    };
    assert!(!is_accepted(), "more than the limit");
    drop(open);
    let begun = Instant::now();
    while !is_accepted() {
        assert!(begun.elapsed() < Duration::from_secs(20));
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_subscription_over_http_has_at_most_64_kib() {
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    put_draft(&spool);
    let program = bench.scratch().path().join("bin/toolexec");
    let server = McpHttpServer::start(&program, &spool);
    for (bytes, status) in [(64 * 1024, "200"), (64 * 1024 + 1, "413")] {
        let mut body = http_subscription();
        body.extend(iter::repeat_n(' ', bytes - body.len()));
        let mut line = String::new();
        post(&server, &body).read_line(&mut line).unwrap();
        assert_eq!(line.split(' ').nth(1), Some(status), "{line:?}");
    }
}
