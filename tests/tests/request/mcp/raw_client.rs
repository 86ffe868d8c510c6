//! A client that writes and reads single messages, for those that the official client does not
//! know.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolexec_tests::Bench;

/// The longest time until a message comes.
const MESSAGE_LIMIT: Duration = Duration::from_secs(60);

/// Returns the data about the client that each request of the newest revision contains.
pub(super) fn client_meta(capabilities: Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

/// Returns the capabilities of a client that knows tasks and asks its user.
pub(super) fn task_capabilities() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/tasks": {} }, "elicitation": {} })
}

pub(super) struct RawMcpClient {
    child: Child,
    requests: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Messages that nothing asked for until now.
    kept: Vec<Value>,
    last_id: u64,
}

impl RawMcpClient {
    pub(super) fn start(bench: &Bench, spool: &Path) -> Self {
        let mut command = Command::new(bench.scratch().path().join("bin/toolexec"));
        command.args(["mcp", "--agent", "core", "--spool"]).arg(spool);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let requests = child.stdin.take();
        let replies = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        thread::spawn(move || {
            for line in replies.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap();
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self { child, requests, messages, kept: Vec::new(), last_id: 0 }
    }

    pub(super) fn write(&mut self, message: &Value) {
        let requests = self.requests.as_mut().unwrap();
        writeln!(requests, "{message}").unwrap();
        requests.flush().unwrap();
    }

    /// Sends a request, and returns its id.
    pub(super) fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a request of a client that knows tasks, and returns its id.
    pub(super) fn begin_modern(&mut self, method: &str, mut params: Value) -> u64 {
        params["_meta"] = client_meta(task_capabilities());
        self.begin(method, &params)
    }

    /// Returns the first message that is so, and keeps the others.
    #[track_caller]
    pub(super) fn first(&mut self, is_so: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            if let Some(at) = self.kept.iter().position(&is_so) {
                return self.kept.remove(at);
            }
            let left = MESSAGE_LIMIT.saturating_sub(begun.elapsed());
            match self.messages.recv_timeout(left) {
                Ok(message) => self.kept.push(message),
                Err(error) => panic!("{error}: {:#?}", self.kept),
            }
        }
    }

    #[track_caller]
    pub(super) fn response(&mut self, id: u64) -> Value {
        self.first(|message| message["id"] == id)
    }

    #[track_caller]
    pub(super) fn result(&mut self, id: u64) -> Value {
        let response = self.response(id);
        assert!(response["result"].is_object(), "{response}");
        response["result"].clone()
    }

    #[track_caller]
    pub(super) fn error_code(&mut self, id: u64) -> i64 {
        let response = self.response(id);
        response["error"]["code"].as_i64().unwrap_or_else(|| panic!("{response}"))
    }

    /// Returns the messages that nothing asked for.
    pub(super) fn kept(&self) -> &[Value] {
        &self.kept
    }

    /// Disconnects. The server must end by itself.
    pub(super) fn disconnect(mut self) {
        self.requests = None;
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for RawMcpClient {
    fn drop(&mut self) {
        self.requests = None;
        if thread::panicking() {
            self.child.kill().unwrap();
        }
        self.child.wait().unwrap();
    }
}
