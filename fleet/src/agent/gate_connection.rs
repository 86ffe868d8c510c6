//! The connections of the gate. Each has its own task. So a start that waits for the database
//! delays neither another start nor a query for the state.

use std::rc::Rc;
use std::time::{Duration, Instant};

use fleet::gate::{GateAnswer, GateQuery};
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::agent_state::Agent;
use super::gate_line::{answer_line, read_query};
use super::gate_starts;

/// The most connections at once. The daemon needs one, and one more for each start.
const CONNECTIONS_MAX: usize = 128;
/// A client that asks nothing for this long connects again.
const IDLE_MAX: Duration = Duration::from_secs(300);
/// A client that does not read its answer has gone.
const WRITE_TIME_MAX: Duration = Duration::from_secs(5);
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves connections until the agent stops.
pub(super) async fn run(agent: Rc<Agent>, listener: UnixListener) {
    let places = Rc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!("gate: accept: {error}");
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let (agent, places) = (Rc::clone(&agent), Rc::clone(&places));
        tokio::task::spawn_local(async move {
            // The agent closes a connection beyond the limit. Its client then gets no answer.
            if let Ok(_place) = places.try_acquire() {
                serve(&agent, stream).await;
            } else {
                tracing::warn!("gate: more than {CONNECTIONS_MAX} connections; one is closed");
            }
        });
    }
}

async fn serve(agent: &Agent, stream: UnixStream) {
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    while !agent.is_stopping.get() {
        let query = match timeout(IDLE_MAX, read_query(&mut reader)).await {
            Ok(Ok(Some(query))) => query,
            Ok(Ok(None)) | Err(_) => return,
            Ok(Err(error)) => {
                // The rest of the stream cannot be read as queries.
                tracing::warn!("gate: a query: {error}; the connection is closed");
                return;
            }
        };
        let line = answer_line(answer(agent, &query).await);
        match timeout(WRITE_TIME_MAX, writer.write_all(&line)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::debug!("gate: an answer: {error}");
                return;
            }
            Err(_) => return,
        }
    }
}

async fn answer(agent: &Agent, query: &GateQuery) -> GateAnswer {
    let begins = agent.readiness.borrow_mut().daemon_asks(Instant::now());
    if begins {
        agent.claims_wake.notify_one();
    }
    match query {
        GateQuery::Status => status(agent),
        GateQuery::Start(start) => gate_starts::decide(agent, start).await,
    }
}

/// Answers a query for the state from memory.
fn status(agent: &Agent) -> GateAnswer {
    let readiness = agent.readiness.borrow();
    let gauges = readiness.gauges();
    match readiness.stop_reason(Instant::now()) {
        None => GateAnswer::Ready(gauges),
        Some(reason) => GateAnswer::Stopped { reason, gauges },
    }
}
