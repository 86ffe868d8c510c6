//! The DevTools protocol on two pipes: JSON messages, each ended by a NUL byte. A browser that uses
//! them opens no port, so that no other process of the host can drive it.

use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::slowdown::time_factor;

const ANSWER_WAIT: Duration = Duration::from_secs(30);

/// A connection to a browser, and the events that it has sent.
pub(super) struct DevToolsPipe {
    commands: RefCell<ChildStdin>,
    messages: Receiver<Value>,
    events: RefCell<Vec<Value>>,
    last_id: Cell<u64>,
}

impl DevToolsPipe {
    /// Takes the standard input and output of a browser.
    pub(super) fn of(browser: &mut Child) -> Self {
        let (send, messages) = channel();
        let output = browser.stdout.take().unwrap();
        std::thread::spawn(move || read_messages(output, &send));
        let commands = RefCell::new(browser.stdin.take().unwrap());
        Self { commands, messages, events: RefCell::default(), last_id: Cell::new(0) }
    }

    /// Sends a command to the browser, or to the page of a session. Returns its number.
    pub(super) fn send(
        &self,
        session: Option<&str>,
        method: &str,
        parameters: Value,
    ) -> std::io::Result<u64> {
        let id = self.last_id.get() + 1;
        self.last_id.set(id);
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let mut commands = self.commands.borrow_mut();
        commands.write_all(format!("{message}\0").as_bytes())?;
        commands.flush()?;
        Ok(id)
    }

    /// Sends a command, and returns its result or its error.
    pub(super) fn call(
        &self,
        session: Option<&str>,
        method: &str,
        parameters: Value,
    ) -> Result<Value, String> {
        let id = self.send(session, method, parameters).map_err(|error| error.to_string())?;
        loop {
            let message = self.messages.recv_timeout(ANSWER_WAIT * time_factor());
            let message = message.map_err(|error| format!("no answer: {error}"))?;
            if message["id"] != json!(id) {
                self.events.borrow_mut().push(message);
            } else if let Some(error) = message.get("error") {
                return Err(error.to_string());
            } else {
                return Ok(message["result"].clone());
            }
        }
    }

    /// Returns the events of one method that were sent before the last answer.
    pub(super) fn events(&self, method: &str) -> Vec<Value> {
        let events = self.events.borrow();
        events.iter().filter(|it| it["method"] == method).map(|it| it["params"].clone()).collect()
    }
}

fn read_messages(output: ChildStdout, send: &Sender<Value>) {
    let mut output = BufReader::new(output);
    let mut message = Vec::new();
    while output.read_until(0, &mut message).is_ok_and(|length| length > 0) {
        // A browser that crashes ends within a message, and the test may end first.
        let is_whole = message.pop() == Some(0);
        if !is_whole || send.send(serde_json::from_slice(&message).unwrap()).is_err() {
            return;
        }
        message.clear();
    }
}
