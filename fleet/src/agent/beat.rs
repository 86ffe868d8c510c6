//! The beat of this host, and the wake-ups of the database on the same connection. No large
//! transfer uses this connection, so none delays a beat. A host whose daemon is silent does not
//! beat, so that other hosts take over its unstarted claims.

use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::agent_state::Agent;
use super::error::FleetAgentError;
use super::fleet_list::FleetListStamp;
use super::link::{CALL_TIME_MAX, DatabaseLink};
use super::retry::TaskRetry;
use crate::database::Channel;

/// The longest wait for a notice. Then the task looks at the daemon and the fleet list again.
const NOTICE_WAIT: Duration = Duration::from_secs(1);

/// Beats until the agent stops.
pub(super) async fn run(agent: Rc<Agent>) {
    let mut link = DatabaseLink::new("toolexec-fleet beat", CALL_TIME_MAX);
    let mut retry = TaskRetry::new("beat");
    let mut list = FleetListLook { read: agent.list_files.stamp() };
    loop {
        match round(&agent, &mut link, &mut list).await {
            Ok(()) => retry.worked(),
            Err(error) => {
                link.close();
                let why = error.to_string();
                let pause = retry.failed(&why);
                agent.readiness.borrow_mut().failed(why, error.is_momentary());
                list.look(&agent);
                sleep(pause).await;
            }
        }
    }
}

/// Beats once if the daemon asks, then waits for notices until the next beat.
async fn round(
    agent: &Agent,
    link: &mut DatabaseLink,
    list: &mut FleetListLook,
) -> Result<(), FleetAgentError> {
    let is_new = link.is_closed();
    let database = link.database(&agent.target).await?;
    if is_new {
        database.listen(Channel::Requests).await?;
        // Notices were lost while no connection listened.
        agent.claims_wake.notify_one();
    }
    let was_alive = is_daemon_alive(agent);
    if was_alive {
        let was_ready = agent.may_claim();
        agent.beat(database).await?;
        if !was_ready {
            agent.claims_wake.notify_one();
        }
    }
    let until = Instant::now() + agent.config.beat;
    loop {
        list.look(agent);
        let rest = until.saturating_duration_since(Instant::now());
        // A daemon that begins to ask waits for this beat.
        if rest.is_zero() || (!was_alive && is_daemon_alive(agent)) {
            return Ok(());
        }
        if database.wait_for_notice(rest.min(NOTICE_WAIT)).await? {
            agent.claims_wake.notify_one();
        }
    }
}

fn is_daemon_alive(agent: &Agent) -> bool {
    agent.readiness.borrow().is_daemon_alive(Instant::now())
}

/// The files of the fleet list as they were last read.
struct FleetListLook {
    read: FleetListStamp,
}

impl FleetListLook {
    /// Reads the fleet list again if one of its files has changed.
    fn look(&mut self, agent: &Agent) {
        let now = agent.list_files.stamp();
        if now == self.read {
            return;
        }
        self.read = now;
        reload(agent);
    }
}

/// Reads the fleet list again, and logs the reason if it cannot be used.
pub(super) fn reload(agent: &Agent) {
    if let Err(why) = agent.reload_list() {
        tracing::error!("the fleet list in use stays: {why}");
    }
}
