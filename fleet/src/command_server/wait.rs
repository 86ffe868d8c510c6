//! `wait`: prints each request when it has ended. After a first connection, it also waits for a
//! database that it cannot reach.

use std::time::Duration;

use fleet::commands::{FleetAnswer, FleetCommand};
use tokio::time::{Instant, sleep};

use super::error::CommandFailure;
use super::lines::print;
use super::link::connect_checked;
use super::waiting::WaitingRequests;
use crate::database::{Channel, Database, DatabaseError};

/// A wake-up is only a hint; the table is read this often without one.
const POLL: Duration = Duration::from_secs(5);
/// Under load every record causes a wake-up. One look serves all wake-ups of this period.
const REST: Duration = Duration::from_millis(100);
/// The pause before another connection.
const RETRY: Duration = Duration::from_secs(1);

pub(super) async fn wait(
    command: &FleetCommand,
    ids: &[String],
    timeout_sec: Option<u64>,
) -> Result<(), CommandFailure> {
    let limit = timeout_sec.map(Duration::from_secs);
    let until = limit.and_then(|limit| Instant::now().checked_add(limit));
    let mut waiting = WaitingRequests::new(ids);
    let mut link = Some(listening(command).await?);
    loop {
        if let Some(database) = &mut link {
            match waiting.look(database).await {
                Ok(ended) => {
                    ended.into_iter().try_for_each(|it| print(&FleetAnswer::Request(it)))?;
                }
                Err(error) if error.is_momentary() => link = None,
                Err(error) => return Err(error.into()),
            }
        }
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if waiting.is_empty() {
            return Ok(());
        }
        if left == Some(Duration::ZERO) {
            waiting.into_last_seen().try_for_each(|it| print(&FleetAnswer::Request(it)))?;
            return print(&FleetAnswer::TimedOut);
        }
        link = rest(command, link, left.unwrap_or(POLL).min(POLL)).await?;
    }
}

/// Waits for a wake-up, at most this long. Returns `None` without a connection.
async fn rest(
    command: &FleetCommand,
    link: Option<Database>,
    at_most: Duration,
) -> Result<Option<Database>, CommandFailure> {
    let Some(mut database) = link else {
        sleep(RETRY.min(at_most)).await;
        return match listening(command).await {
            Ok(database) => Ok(Some(database)),
            Err(error) if error.is_momentary() => Ok(None),
            Err(error) => Err(error.into()),
        };
    };
    sleep(REST.min(at_most)).await;
    match database.wait_for_notice(at_most).await {
        Ok(_) => Ok(Some(database)),
        Err(_) => Ok(None),
    }
}

async fn listening(command: &FleetCommand) -> Result<Database, DatabaseError> {
    let mut database = connect_checked(command).await?;
    database.listen(Channel::Results).await?;
    Ok(database)
}
