//! The fleet as its database has it.

use std::collections::BTreeMap;

use fleet::commands::{FleetHostStatus, FleetLostStatus, FleetStatus};
use fleet::model::{FleetState, HostName};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::bound::SqlValues;
use super::connection::Database;
use super::error::DatabaseError;
use super::host_model::{FleetIdentity, LostRow};
use super::listing::stored_requests;
use super::lost_orders::orders_in_effect;
use super::row::{count, field, host_name, parsed};
use super::stored::StoredRequest;

const ACT: &str = "read the state of the fleet";

/// The requests whose rows are judged, the newest first, and the defects that are returned.
const JUDGED_MAX: usize = 100_000;
const DEFECTS_MAX: usize = 100;
const PAGE: i64 = 1_000;

const COUNTS: &str = "SELECT state, count(*) AS requests FROM toolexec.claim GROUP BY state";

/// The ids begin with the date.
const PAGES: &str = stored_requests!("WHERE $1 IS NULL OR r.id < $1 ORDER BY r.id DESC LIMIT $2");

const HOSTS: &str = "SELECT h.name, h.labels, \
     extract(epoch FROM now() - h.beat_at)::float8 AS beat_age_sec, \
     (SELECT count(*) FROM toolexec.claim c WHERE c.host = h.name AND c.state = 'claimed') \
         AS claimed, \
     (SELECT count(*) FROM toolexec.claim c WHERE c.host = h.name AND c.state = 'started') \
         AS started, \
     k.size AS log_size FROM toolexec.host h \
     LEFT JOIN toolexec.checkpoint k ON k.host = h.name ORDER BY h.name";

const WITNESSES: &str = "SELECT o.host, o.witness FROM toolexec.cosignature o \
     JOIN toolexec.checkpoint k ON k.host = o.host WHERE o.size >= k.size \
     ORDER BY o.host, o.witness";

const DISPUTES: &str = "SELECT host, witness, reason FROM toolexec.dispute ORDER BY host, witness";

impl Database {
    /// Returns the state of the fleet, and judges the rows of the newest requests.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub(crate) async fn status(&mut self) -> Result<FleetStatus, DatabaseError> {
        let identity = self.check_schema().await?;
        let mut requests = Vec::new();
        for row in &self.bound.query(ACT, &self.client, COUNTS, &[]).await? {
            requests.push((parsed(row, "state", FleetState::named)?, count(row, "requests")?));
        }
        let place = |state: FleetState| FleetState::ALL.iter().position(|it| *it == state);
        requests.sort_by_key(|(state, _)| place(*state));
        let hosts = self.host_states().await?;
        self.judge_requests().await?;
        let defects = self.defects.iter().take(DEFECTS_MAX).map(ToString::to_string).collect();
        let FleetIdentity { fleet, fleet_id } = identity;
        Ok(FleetStatus { fleet, fleet_id, requests, hosts, defects })
    }

    async fn host_states(&mut self) -> Result<Vec<FleetHostStatus>, DatabaseError> {
        let rows = self.bound.query(ACT, &self.client, HOSTS, &[]).await?;
        let mut witnesses: BTreeMap<String, Vec<HostName>> = BTreeMap::new();
        for row in &self.bound.query(ACT, &self.client, WITNESSES, &[]).await? {
            let witness = host_name(row, "witness")?;
            witnesses.entry(field(row, "host")?).or_default().push(witness);
        }
        let mut disputes: BTreeMap<String, Vec<(HostName, String)>> = BTreeMap::new();
        for row in &self.bound.query(ACT, &self.client, DISPUTES, &[]).await? {
            let witness = host_name(row, "witness")?;
            let dispute = (witness, field(row, "reason")?);
            disputes.entry(field(row, "host")?).or_default().push(dispute);
        }
        let mut lost = self.lost_hosts(&rows).await?;
        let mut hosts = Vec::new();
        for row in &rows {
            let host = host_name(row, "name")?;
            let labels: Vec<String> = field(row, "labels")?;
            let log_size: Option<i64> = field(row, "log_size")?;
            hosts.push(FleetHostStatus {
                labels: labels.iter().filter_map(|it| HostName::parse(it).ok()).collect(),
                beat_age_sec: field(row, "beat_age_sec")?,
                claimed: count(row, "claimed")?,
                started: count(row, "started")?,
                lost: lost.remove(host.as_str()),
                log_size: log_size.and_then(|size| u64::try_from(size).ok()),
                witnesses: witnesses.remove(host.as_str()).unwrap_or_default(),
                disputes: disputes.remove(host.as_str()).unwrap_or_default(),
                host,
            });
        }
        Ok(hosts)
    }

    /// Returns the order of each of these hosts that is declared lost.
    async fn lost_hosts(
        &self,
        hosts: &[Row],
    ) -> Result<BTreeMap<String, FleetLostStatus>, DatabaseError> {
        let names: Result<Vec<&str>, _> = hosts.iter().map(|row| field(row, "name")).collect();
        let orders = orders_in_effect(ACT, &self.bound, &self.client, &names?).await?;
        let of_host = |LostRow { host, order, signature }: LostRow| {
            (host.as_str().to_owned(), FleetLostStatus { order, signature })
        };
        Ok(orders.into_iter().map(of_host).collect())
    }

    /// Looks for rows that were changed by hand.
    async fn judge_requests(&mut self) -> Result<(), DatabaseError> {
        let (mut before, mut judged): (Option<String>, usize) = (None, 0);
        while judged < JUDGED_MAX && self.defects.len() < DEFECTS_MAX {
            let values: SqlValues<'_> = &[(&before, Type::TEXT), (&PAGE, Type::INT8)];
            let rows = self.bound.query(ACT, &self.client, PAGES, values).await?;
            for row in &rows {
                let defect = StoredRequest::judged(row).err();
                defect.into_iter().for_each(|defect| self.remember_defect(defect));
            }
            let Some(last) = rows.last() else { break };
            before = Some(field(last, "r_id")?);
            judged += rows.len();
        }
        Ok(())
    }
}
