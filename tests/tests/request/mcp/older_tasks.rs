//! The tasks of the protocol's revision 2025-11-25, which are not offered: their clients get
//! ordinary answers.

use serde_json::{Value, json};
use toolexec_tests::Bench;

use super::agent::{empty_spool, good};
use super::raw_client::RawMcpClient;

/// Returns the parameters of a call that asks for a task.
fn as_task(tool: &str, arguments: &Value) -> Value {
    json!({ "name": tool, "arguments": arguments, "task": { "ttl": 60_000 } })
}

#[test]
fn a_client_of_the_older_tasks_gets_ordinary_answers() {
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    let mut agent = RawMcpClient::start(&bench, &spool);
    let id = agent.begin(
        "initialize",
        &json!({
            "protocolVersion": "2025-11-25",
            "clientInfo": { "name": "raw", "version": "1" },
            "capabilities": {
                "tasks": { "list": {}, "cancel": {}, "requests": { "elicitation": {} } },
            },
        }),
    );
    let session = agent.result(id);
    assert_eq!(session["protocolVersion"], "2025-11-25", "{session}");
    assert_eq!(session["capabilities"]["tasks"], Value::Null, "{session}");
    agent.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));

    // A server without the capability ignores the wish for a task and answers as usual.
    let id = agent.begin("tools/call", &as_task("draft_tool_request", &good()));
    let written = agent.result(id);
    assert_eq!(written["task"], Value::Null, "{written}");
    let draft = written["structuredContent"]["request_id"].as_str().unwrap().to_owned();
    assert!(spool.join(format!("drafts/{draft}.md")).is_file());
    let wait = json!({ "id": draft, "timeout_sec": 1 });
    let id = agent.begin("tools/call", &as_task("wait_for_result", &wait));
    let waited = agent.result(id);
    assert_eq!(waited["structuredContent"]["state"], "drafted", "{waited}");
    assert_eq!(waited["structuredContent"]["timed_out"], true, "{waited}");

    let task = json!({ "taskId": draft });
    for (method, code) in [("tasks/list", -32601), ("tasks/result", -32601), ("tasks/get", -32021)]
    {
        let id = agent.begin(method, &task);
        assert_eq!(agent.error_code(id), code, "{method}");
    }
    let id =
        agent.begin("subscriptions/listen", &json!({ "notifications": { "taskIds": [draft] } }));
    assert_eq!(agent.error_code(id), -32601, "this revision has no subscriptions");
    agent.disconnect();
}
