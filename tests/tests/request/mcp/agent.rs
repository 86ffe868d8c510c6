//! An agent: the official client as a separate process, which starts a server and talks to it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use toolexec_tests::{Bench, skip, workspace};

#[derive(Debug)]
pub(super) struct ToolCallReply {
    pub(super) is_error: bool,
    /// The structured content, if there is any.
    pub(super) structured: Value,
    pub(super) texts: Vec<String>,
    pub(super) progress: Vec<Value>,
}

impl ToolCallReply {
    /// Returns all text that a model may see.
    pub(super) fn text(&self) -> String {
        self.texts.join("\n")
    }

    #[track_caller]
    pub(super) fn assert_good(&self) -> &Self {
        assert!(!self.is_error, "{self:#?}");
        self
    }

    /// Asserts an error that contains these texts.
    #[track_caller]
    pub(super) fn assert_refused(&self, words: &[&str]) {
        assert!(self.is_error, "{self:#?}");
        for word in words {
            assert!(self.text().contains(word), "{word:?} is not in {self:#?}");
        }
    }

    pub(super) fn codes(&self) -> Vec<&str> {
        let rows = self.structured["violations"].as_array();
        rows.into_iter().flatten().map(|row| row["code"].as_str().unwrap()).collect()
    }
}

pub(super) struct McpTestClient {
    child: Child,
    requests: Option<ChildStdin>,
    replies: BufReader<ChildStdout>,
    /// The server's first message.
    pub(super) server_info: Value,
}

/// Returns the interpreter that has the client. Logs a skip if there is none.
pub(super) fn python(test: &str) -> Option<PathBuf> {
    let named = std::env::var_os("TOOLEXEC_PYTHON").map(PathBuf::from);
    let Some(python) = named.filter(|it| it.exists()) else {
        skip(test, "TOOLEXEC_PYTHON names no oracle; tests/prepare installs it");
        return None;
    };
    let has_it = Command::new(&python).args(["-c", "import mcp"]).output().unwrap();
    if !has_it.status.success() {
        skip(test, "the Python package mcp is not installed; tests/prepare installs it");
        return None;
    }
    Some(python)
}

impl McpTestClient {
    /// Starts the server on this spool, with more options.
    pub(super) fn start(python: &Path, bench: &Bench, spool: &Path, more: &[&str]) -> Self {
        let program = bench.scratch().path().join("bin/toolexec");
        let mut words = vec![program.to_str().unwrap(), "mcp", "--spool", spool.to_str().unwrap()];
        words.extend(more);
        Self::start_command(python, &words)
    }

    /// Starts any command as the server.
    pub(super) fn start_command(python: &Path, server: &[&str]) -> Self {
        let client = workspace().join("tests/oracles/mcp_client.py");
        let mut command = Command::new(python);
        command.arg(client).args(server).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let asks = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut agent = Self { child, requests: asks, replies: answers, server_info: Value::Null };
        agent.server_info = agent.reply();
        agent
    }

    #[track_caller]
    fn reply(&mut self) -> Value {
        let mut line = String::new();
        self.replies.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Sends one request of the client, and returns its response.
    #[track_caller]
    pub(super) fn request(&mut self, message: &Value) -> Value {
        self.begin(message);
        self.reply()
    }

    fn begin(&mut self, message: &Value) {
        let requests = self.requests.as_mut().unwrap();
        writeln!(requests, "{message}").unwrap();
        requests.flush().unwrap();
    }

    #[track_caller]
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> ToolCallReply {
        self.begin_call(tool, arguments);
        self.called()
    }

    /// Calls a tool without waiting for its result.
    pub(super) fn begin_call(&mut self, tool: &str, arguments: Value) {
        self.begin(&json!({ "call": tool, "arguments": arguments }));
    }

    #[track_caller]
    pub(super) fn called(&mut self) -> ToolCallReply {
        let answer = self.reply();
        let list = |key: &str| answer[key].as_array().unwrap().clone();
        ToolCallReply {
            is_error: answer["is_error"].as_bool().unwrap(),
            structured: answer["structured"].clone(),
            texts: list("texts").iter().map(|it| it.as_str().unwrap().to_owned()).collect(),
            progress: list("progress"),
        }
    }

    /// Disconnects the client. The server must end by itself.
    pub(super) fn disconnect(mut self) {
        self.requests = None;
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for McpTestClient {
    fn drop(&mut self) {
        self.requests = None;
        // The client ends its server in any case.
        if self.child.wait().is_err() {
            assert!(std::thread::panicking());
        }
    }
}

pub(super) fn empty_spool(bench: &Bench) -> PathBuf {
    for name in ["spool", "spool/drafts", "spool/results", "spool/public", "spool/approved"] {
        fs::create_dir(bench.scratch().path().join(name)).unwrap();
    }
    bench.scratch().path().join("spool")
}

pub(super) fn good() -> Value {
    json!({
        "purpose": "Mean of one column",
        "language": "python",
        "words": ["python", "mean.py", "/in/table.csv", "/out/mean.json"],
        "inputs": [
            {"name": "mean.py", "text": "import json, sys\nprint('mean')\n"},
            {"name": "table.csv", "base64": "YSxiCjEsMgo="},
        ],
        "outputs": [{"path": "mean.json", "description": "the mean"}],
        "risk": "low",
        "justification": "reads one table",
        "sensitivity": "public",
    })
}
