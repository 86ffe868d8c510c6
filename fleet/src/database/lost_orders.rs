//! The stored orders about lost hosts. The database cannot judge their signatures, and it frees the
//! claims of a host as soon as it has an order. So each host checks every order that is in effect.

use std::rc::Rc;

use model::UtcTime;
use policies::{AllowedSigners, FleetList, FleetListHost, FleetLostOrder};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::bound::{SqlValues, StatementBound};
use super::error::DatabaseError;
use super::host_model::LostRow;
use super::row::{field, host_name};

/// The newest order about each of the hosts `$1` that has not returned since. A new order replaces
/// an earlier one whose signature does not count any more.
const IN_EFFECT: &str = "SELECT l.host, l.order_text, l.signature FROM toolexec.lost l \
     LEFT JOIN toolexec.host h ON h.name = l.host \
     WHERE l.host = ANY ($1) AND (h.returned_at IS NULL OR h.returned_at <= l.declared_at) \
     AND NOT EXISTS (SELECT 1 FROM toolexec.lost n \
     WHERE n.host = l.host AND n.declared_at > l.declared_at) ORDER BY l.host";

/// The signed list and the keys by which orders count.
#[derive(Clone, Debug)]
pub(crate) struct LostOrderTrust {
    /// The list of the fleet. Orders about other hosts have no effect.
    pub(crate) list: Rc<FleetList>,
    /// The keys of operators.
    pub(crate) signers: Rc<AllowedSigners>,
    /// The time of the check.
    pub(crate) now: UtcTime,
}

impl LostOrderTrust {
    /// Returns the first order that does not count, among those that this client sees, with help.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub(super) async fn defect(
        &self,
        act: &'static str,
        bound: &StatementBound,
        client: &Client,
    ) -> Result<Option<String>, DatabaseError> {
        let hosts: Vec<&str> = self.list.hosts().iter().map(FleetListHost::name).collect();
        let orders = orders_in_effect(act, bound, client, &hosts).await?;
        Ok(self.check(&orders).err())
    }

    /// Checks the host, the fleet and the signature of each order.
    fn check(&self, orders: &[LostRow]) -> Result<(), String> {
        for LostRow { host, order, signature } in orders {
            let (signature, fleet_id) = (signature.as_bytes(), self.list.fleet_id());
            let name = host.as_str();
            FleetLostOrder::check(order, signature, name, fleet_id, &self.signers, self.now)
                .map(|_| ())
                .map_err(|error| format!("host {host}: {error}"))?;
        }
        Ok(())
    }
}

/// Returns the orders in effect about these hosts, at most one for each.
///
/// # Errors
/// [`DatabaseError`].
pub(super) async fn orders_in_effect(
    act: &'static str,
    bound: &StatementBound,
    client: &Client,
    hosts: &[&str],
) -> Result<Vec<LostRow>, DatabaseError> {
    let values: SqlValues<'_> = &[(&hosts, Type::TEXT_ARRAY)];
    let rows = bound.query_planned(act, client, IN_EFFECT, values).await?;
    let mut orders = Vec::new();
    for row in &rows {
        let (order, signature) = (field(row, "order_text")?, field(row, "signature")?);
        orders.push(LostRow { host: host_name(row, "host")?, order, signature });
    }
    Ok(orders)
}

#[cfg(test)]
mod tests;
