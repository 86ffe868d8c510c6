//! The tables: numbered migrations, and the checks before a database is used.

use fleet::model::HostName;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::bound::{SqlValues, StatementBound, retried};
use super::connection::Database;
use super::error::DatabaseError;
use super::host_model::{FleetIdentity, Initialised};
use super::row::{field, host_name};

/// The migrations in order. The version of the tables is the number of the last one.
static MIGRATIONS: [&str; 3] = [
    include_str!("../../migrations/0001_tables.sql"),
    include_str!("../../migrations/0002_states.sql"),
    include_str!("../../migrations/0003_rights.sql"),
];

const INIT: &str = "make its tables";
const CHECK: &str = "check its tables";

const HAS_TABLES: &str = "SELECT to_regclass('toolexec.fleet') IS NOT NULL AS has_tables";

const FLEET: &str = "SELECT name, fleet_id, schema_version FROM toolexec.fleet";

const NEW_FLEET: &str = "INSERT INTO toolexec.fleet (name, fleet_id, schema_version) \
     VALUES ($1, gen_random_uuid()::text, $2)";

const NEW_VERSION: &str = "UPDATE toolexec.fleet SET schema_version = $1";

/// Row rights bind neither a superuser nor a role with the rights of the tables' owner.
const HOST: &str = "SELECT session_user::text AS role, \
     EXISTS (SELECT 1 FROM pg_roles g WHERE g.rolname = 'toolexec_host' \
         AND pg_has_role(session_user, g.oid, 'MEMBER')) AS is_member, \
     EXISTS (SELECT 1 FROM pg_roles u WHERE u.rolname = session_user \
         AND (u.rolsuper OR u.rolbypassrls)) \
     OR EXISTS (SELECT 1 FROM pg_class t WHERE t.oid = 'toolexec.claim'::regclass \
         AND pg_has_role(session_user, t.relowner, 'USAGE')) AS is_unbound";

impl Database {
    /// Makes the tables and the two group roles, or updates them. The role needs the rights to make
    /// schemas and roles.
    ///
    /// # Errors
    /// [`DatabaseError`], also for the tables of another fleet.
    pub(crate) async fn init(&mut self, fleet: &HostName) -> Result<Initialised, DatabaseError> {
        retried!(self.init_once(fleet))
    }

    async fn init_once(&mut self, fleet: &HostName) -> Result<Initialised, DatabaseError> {
        let bound = self.bound.clone();
        let transaction = bound.begin(INIT, &mut self.client).await?;
        let client = transaction.client();
        let row = one(bound.query(INIT, client, HAS_TABLES, &[]).await?)?;
        let has_tables: bool = field(&row, "has_tables")?;
        let mut former_version = None;
        if has_tables {
            let (identity, version) = read_identity(&bound, INIT, client).await?;
            check_fleet(&identity, fleet)?;
            former_version = Some(version);
        }
        let later = later(former_version.unwrap_or(0))?;
        for migration in later {
            bound.run(INIT, client.batch_execute(migration)).await?;
        }
        let known = known_version();
        if !has_tables {
            let name = fleet.as_str();
            let values: SqlValues<'_> = &[(&name, Type::TEXT), (&known, Type::INT4)];
            bound.execute(INIT, client, NEW_FLEET, values).await?;
        } else if !later.is_empty() {
            bound.execute(INIT, client, NEW_VERSION, &[(&known, Type::INT4)]).await?;
        }
        let (identity, schema_version) = read_identity(&bound, INIT, client).await?;
        bound.commit(INIT, transaction).await?;
        Ok(Initialised { fleet_id: identity.fleet_id, schema_version, former_version })
    }

    /// Checks that the tables are of this version.
    ///
    /// # Errors
    /// [`DatabaseError`], also for a database without tables.
    pub(crate) async fn check_schema(&mut self) -> Result<FleetIdentity, DatabaseError> {
        let (found, version) = read_identity(&self.bound, CHECK, &self.client).await?;
        match version == known_version() {
            true => Ok(found),
            false => Err(DatabaseError::SchemaVersion { found: version, known: known_version() }),
        }
    }

    /// Checks that the role of the connection is this host, and that row rights bind it.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub(crate) async fn check_host(&mut self, host: &HostName) -> Result<(), DatabaseError> {
        let row = one(self.bound.query("check its role", &self.client, HOST, &[]).await?)?;
        let role: String = field(&row, "role")?;
        if role != host.as_str() {
            return Err(DatabaseError::OtherRole { role, host: host.as_str().to_owned() });
        }
        let (is_unbound, is_member): (bool, bool) =
            (field(&row, "is_unbound")?, field(&row, "is_member")?);
        match (is_unbound, is_member) {
            (true, _) => Err(DatabaseError::Unbound { role }),
            (false, false) => Err(DatabaseError::NotInGroup { role }),
            (false, true) => Ok(()),
        }
    }
}

fn known_version() -> i32 {
    i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX)
}

/// Returns the migrations after a version.
fn later(found: i32) -> Result<&'static [&'static str], DatabaseError> {
    let unknown = DatabaseError::SchemaVersion { found, known: known_version() };
    let done = usize::try_from(found).ok().and_then(|done| MIGRATIONS.get(done..));
    done.ok_or(unknown)
}

fn check_fleet(found: &FleetIdentity, wanted: &HostName) -> Result<(), DatabaseError> {
    match found.fleet == *wanted {
        true => Ok(()),
        false => Err(DatabaseError::OtherFleet { found: found.fleet.as_str().to_owned() }),
    }
}

async fn read_identity(
    bound: &StatementBound,
    act: &'static str,
    client: &Client,
) -> Result<(FleetIdentity, i32), DatabaseError> {
    let row = one(bound.query(act, client, FLEET, &[]).await?)?;
    let fleet = host_name(&row, "name")?;
    let identity = FleetIdentity { fleet, fleet_id: field(&row, "fleet_id")? };
    Ok((identity, field(&row, "schema_version")?))
}

fn one(rows: Vec<Row>) -> Result<Row, DatabaseError> {
    rows.into_iter().next().ok_or(DatabaseError::Value { column: "fleet" })
}

#[cfg(test)]
mod tests {
    use super::{MIGRATIONS, later};

    #[test]
    fn only_the_migrations_after_a_version_are_run() {
        assert_eq!(later(0).unwrap(), MIGRATIONS);
        assert_eq!(later(2).unwrap(), &MIGRATIONS[2..]);
        assert!(later(3).unwrap().is_empty());
        for unknown in [4, -1, i32::MAX] {
            let error = later(unknown).unwrap_err().to_string();
            assert!(error.contains(&format!("version {unknown}")), "{error}");
        }
    }
}
