//! The hosts of a fleet with their database, and the requests of a test.

use std::fs;
use std::path::PathBuf;

use super::host::TestFleetHost;
use super::list;
use crate::bench::Bench;
use crate::crash_support::{CountedTool, RunCounter};
use crate::postgres::PostgresServer;
use crate::request::{RequestText, SavedRequest};
use crate::service_config::ServiceConfig;
use crate::standing::SavedStanding;

/// The role of the submitter.
pub(super) const SUBMITTER: &str = "alice";
/// The script of each request. The counted tool runs in place of an interpreter.
const SCRIPT: &str = "the tool does not read it";
/// The hosts in turn, each with its labels.
const HOSTS: [(&str, &[&str]); 3] =
    [("host-a", &["farm", "gpu"]), ("host-b", &["farm", "cpu"]), ("host-c", &["farm", "cpu"])];

/// A fleet. Its hosts end before its database.
pub struct TestFleet<'a> {
    pub hosts: Vec<TestFleetHost<'a>>,
    pub database: PostgresServer,
    pub counted: RunCounter,
    /// The key of the operator and approver `tester`.
    pub key: PathBuf,
    /// The file that lists this key.
    pub signers: PathBuf,
    pub fleet_id: String,
    pub(super) client: &'a Bench,
    pub(super) store: Option<String>,
    serial: u64,
}

impl<'a> TestFleet<'a> {
    /// Makes the tables, the list, and one host for each bench: `host-a`, `host-b`, `host-c`. All
    /// have the label `farm`, the first one also `gpu`, and the others `cpu`. Starts only the
    /// database. Logs a skip and returns `None` if something that it needs is not installed.
    #[must_use]
    pub fn prepare(test: &str, tool: &CountedTool, benches: &'a [Bench]) -> Option<Self> {
        Self::prepare_with(test, benches, tool.count(), |bench| tool.service_config(bench))
    }

    /// As [`Self::prepare`], with another configuration of each daemon.
    #[must_use]
    pub fn prepare_with(
        test: &str,
        benches: &'a [Bench],
        counted: RunCounter,
        config: impl Fn(&Bench) -> ServiceConfig,
    ) -> Option<Self> {
        if !crate::ssh_keygen_works(test) {
            return None;
        }
        let database = PostgresServer::start(test)?;
        let client = &benches[0];
        let (key, signers) = SavedStanding::make_approver(client);
        let host = |(bench, (name, _)): (&'a Bench, &(&str, &[&str]))| {
            let config = ServiceConfig { allowed_signers: Some(signers.clone()), ..config(bench) };
            let host = TestFleetHost::prepare(name, bench, &config);
            host.configure_agent(&database.url(name), &signers);
            host
        };
        let hosts: Vec<_> = benches.iter().zip(&HOSTS).map(host).collect();
        let mut fleet = Self {
            hosts,
            database,
            counted,
            key,
            signers,
            fleet_id: String::new(),
            client,
            store: None,
            serial: 0,
        };
        fleet.fleet_id = fleet.initialise();
        fleet.publish_list(|text| text);
        fleet.hosts.iter().for_each(TestFleetHost::join);
        Some(fleet)
    }

    /// Makes the tables and the roles, and returns the id of the fleet.
    fn initialise(&self) -> String {
        let names = self.hosts.iter().flat_map(|host| ["--host", host.name.as_str()]);
        let words: Vec<&str> = names.chain(["--submitter", SUBMITTER]).collect();
        let made = self.fleet_init(&self.database.owner_url(), "farm", &words);
        made.assert_code(0);
        let object = made.json();
        for statement in object["sql"].as_array().unwrap() {
            self.database.query(statement.as_str().unwrap());
        }
        object["fleet_id"].as_str().unwrap().to_owned()
    }

    /// Signs the next list, with an edit of its text, and installs it on every host.
    pub fn publish_list(&mut self, edit: impl Fn(String) -> String) {
        self.serial += 1;
        let entries = self.hosts.iter().zip(&HOSTS);
        let entries: String =
            entries.map(|(host, (_, labels))| list::entry(host, labels)).collect();
        let (id, serial) = (&self.fleet_id, self.serial);
        let text = format!("fleet: farm\nfleet_id: {id}\nserial: {serial}\nhosts:\n{entries}");
        let path = self.list_path();
        list::write_signed(&path, &edit(text), &self.key);
        for host in &self.hosts {
            list::install(&path, &host.list_path());
        }
    }

    /// The signed list, as a submitter has it.
    #[must_use]
    pub fn list_path(&self) -> PathBuf {
        self.client.scratch().path().join("fleet.yaml")
    }

    /// Moves the bytes of large files through a directory from now on. Call it before the hosts
    /// start.
    pub fn use_store(&mut self) -> PathBuf {
        let place = self.client.scratch().dir("store");
        let url = format!("file://{}", place.display());
        for host in &self.hosts {
            host.set_agent("store", &url);
        }
        self.store = Some(url);
        place
    }

    /// Starts every host.
    pub fn spawn(&mut self) {
        self.hosts.iter_mut().for_each(TestFleetHost::spawn);
    }

    /// Stops every host in order.
    #[track_caller]
    pub fn stop(&mut self) {
        self.hosts.iter_mut().for_each(TestFleetHost::stop);
    }

    /// A request whose run is counted under its id. It names no audience.
    pub fn request(&self) -> RequestText {
        self.request_with("")
    }

    /// A request whose tool does more than to be counted, by one word. `slow` and `loud` sleep for
    /// five seconds; `loud` then prints 128 KiB that do not compress well. `fail` exits with 1.
    pub fn request_that(&self, word: &str) -> RequestText {
        self.request_with(&format!(" {word}"))
    }

    fn request_with(&self, words: &str) -> RequestText {
        let text = RequestText::python(SCRIPT);
        let name = self.counted.run_argument(&text.id);
        text.command(&format!("python script.py {name}{words}"))
    }

    /// A request for a host or a label.
    pub fn request_for(&self, audience: &str) -> RequestText {
        let key = format!("x-audience: \"{audience}\"\nconstraints:\n");
        self.request().edit("constraints:\n", &key)
    }

    /// Saves a request beside those that were saved before.
    #[must_use]
    pub fn save(&self, request: &RequestText) -> SavedRequest {
        self.client.save(request)
    }

    /// Places a request in `approved/` of one host, without the fleet.
    pub fn place_on(&self, host: &TestFleetHost<'_>, request: &RequestText) {
        let aside = host.bench.scratch().dir("aside");
        SavedStanding::place_use(request, &aside, &host.service.path("approved"));
    }

    /// The number of runs of a request, counted from outside.
    #[must_use]
    pub fn runs_of(&self, id: &str) -> u32 {
        self.counted.counts().get(id).copied().unwrap_or_default()
    }

    /// Writes a file that every user can read.
    #[must_use]
    pub fn scratch_file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.client.scratch().path().join(name);
        fs::write(&path, content).unwrap();
        path
    }
}
