//! Serves the daemon of this host until SIGTERM: one thread, one task for each of beats, claims,
//! reports and connections of the gate.

use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use spool::ServiceManager;
use tokio::net::UnixListener;
use tokio::task::{JoinHandle, LocalSet, spawn_local};
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::agent_state::Agent;
use super::config::AgentConfig;
use super::signals::{AgentSignals, SignalSockets};
use super::{beat, claims, gate_connection, gate_socket, reports};
use crate::confine::confine_serving;
use crate::witness::Witness;

/// Before it ends, the agent waits this long for starts that are being decided.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(10);
const DRAIN_LOOK: Duration = Duration::from_millis(10);
/// The interval of the status line for `systemctl status`.
const STATUS_INTERVAL: Duration = Duration::from_secs(5);

/// Serves with the configuration of this file.
///
/// # Errors
/// The agent could not start. The message has help.
pub(crate) fn serve(path: &Path) -> Result<(), String> {
    let config = AgentConfig::read(path)?;
    let agent = Rc::new(Agent::open(config)?);
    let config = &agent.config;
    let witness = Witness::open(&config.state, &config.witness_key, config.host.as_str());
    let witness = witness.map_err(|error| error.to_string())?;
    let listener = gate_socket::listen(&config.socket)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start the runtime: {error}"))?;
    let manager = ServiceManager::of_environment();
    let signals = SignalSockets::listen()?;
    // Everything that needs more rights is open now, and no thread runs yet.
    confine_serving(&config.places())?;
    LocalSet::new().block_on(&runtime, run(agent, (listener, signals), manager, witness))
}

async fn run(
    agent: Rc<Agent>,
    (listener, signals): (std::os::unix::net::UnixListener, SignalSockets),
    manager: ServiceManager,
    witness: Witness,
) -> Result<(), String> {
    let mut signals = AgentSignals::of(signals)?;
    let listener = UnixListener::from_std(listener).map_err(|error| format!("gate: {error}"))?;
    let tasks = [
        spawn_local(gate_connection::run(Rc::clone(&agent), listener)),
        spawn_local(beat::run(Rc::clone(&agent))),
        spawn_local(claims::run(Rc::clone(&agent))),
        spawn_local(reports::run(Rc::clone(&agent), witness)),
    ];
    tracing::info!("serving host {} at {}", agent.host(), agent.config.socket.display());
    manager.ready();
    wait(&agent, &manager, &mut signals, &tasks).await?;
    manager.stopping();
    drain(&agent).await;
    tracing::info!("stopped");
    Ok(())
}

/// Waits for the signal to stop. A task never ends by itself: one that panicked ends the agent.
async fn wait(
    agent: &Agent,
    manager: &ServiceManager,
    signals: &mut AgentSignals,
    tasks: &[JoinHandle<()>],
) -> Result<(), String> {
    let every = manager.watchdog_interval().map_or(STATUS_INTERVAL, |it| it.min(STATUS_INTERVAL));
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = signals.stop.arrived() => return Ok(()),
            () = signals.reload.arrived() => beat::reload(agent),
            _ = ticks.tick() => {
                manager.ping_watchdog();
                manager.status(&status_line(agent));
                if tasks.iter().any(JoinHandle::is_finished) {
                    return Err("a task ended; help: report this as a bug".to_owned());
                }
            }
        }
    }
}

fn status_line(agent: &Agent) -> String {
    let readiness = agent.readiness.borrow();
    readiness.stop_reason(Instant::now()).unwrap_or_else(|| {
        let gauges = readiness.gauges();
        format!(
            "ready; {} claimed, {} to report, {} queued",
            gauges.claimed, gauges.unreported, gauges.queued
        )
    })
}

/// Lets starts that are being decided end. An unanswered start would be refused by a later agent.
async fn drain(agent: &Agent) {
    agent.is_stopping.set(true);
    let until = Instant::now() + DRAIN_TIME_MAX;
    while agent.nonces.in_flight() > 0 && Instant::now() < until {
        sleep(DRAIN_LOOK).await;
    }
    // The answers are written by other tasks of this thread.
    sleep(DRAIN_LOOK).await;
}
