//! Uses of a standing approval that wait: in `drafts/` for the daemon, and in `approved/` for an
//! operator or for capacity.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod drafts;
mod revoked;

use std::fs;
use std::path::{Path, PathBuf};

use toolexec_tests::{
    Bench, RequestText, STANDING_HOST, STANDING_NAMESPACE, SavedRequest, SavedStanding, Service,
    ServiceConfig, StandingText, list,
};

const SCRIPT: &str = "import sys, time; time.sleep(int(sys.argv[1]))";

/// A daemon with one approver and an admitted standing approval for [`SCRIPT`].
struct WaitingScene<'a> {
    bench: &'a Bench,
    service: Service<'a>,
    key: PathBuf,
    standing: SavedStanding,
}

impl<'a> WaitingScene<'a> {
    /// Starts the daemon with a configuration and more lines of it.
    fn start(bench: &'a Bench, config: ServiceConfig, lines: &[&str]) -> Self {
        let (key, signers) = SavedStanding::make_approver(bench);
        let config = ServiceConfig { allowed_signers: Some(signers), ..config };
        let mut service = Service::prepare(bench, &config);
        service.configure(&format!("log: {{origin: {STANDING_HOST}}}"));
        lines.iter().for_each(|line| service.configure(line));
        service.spawn();
        let standing = StandingText::of_script(SCRIPT).save(bench.scratch().path());
        standing.sign(STANDING_NAMESPACE, &key);
        let scene = Self { bench, service, key, standing };
        scene.submit_standing();
        scene
    }

    /// Submits the standing approval with its present signature.
    fn submit_standing(&self) {
        let approved = self.service.path("approved");
        self.standing.place_in(&approved);
        let file = approved.join(format!("{}.md", self.standing.id));
        self.service.wait_for("the standing approval to be taken", |_| !file.exists());
    }

    /// Rejects the standing approval, and waits until it is revoked.
    fn revoke(&self) {
        fs::remove_file(self.standing.path.with_extension("md.sig")).unwrap();
        self.standing.sign("reject.tool-exec@threegate", &self.key);
        self.submit_standing();
        self.service.wait_for("the revocation", |it| it.log().contains("standing-revoked"));
    }

    /// Returns a use that sleeps for so many seconds.
    fn use_of(&self, seconds: u32) -> RequestText {
        self.standing.use_of(SCRIPT, &seconds.to_string())
    }

    fn aside(&self) -> PathBuf {
        self.bench.scratch().dir("aside")
    }

    fn place(&self, request: &RequestText, directory: &Path) -> SavedRequest {
        SavedStanding::place_use(request, &self.aside(), directory)
    }

    /// Asserts that this number of uses began, and that all records verify.
    #[track_caller]
    fn assert_uses(&self, uses: usize) {
        let ledger = fs::read_to_string(self.service.state().join("ledger")).unwrap();
        assert_eq!(ledger.matches("\"standing\":").count(), uses, "{ledger}");
        self.service.wait_for("the claims to be finished", |service| {
            list(&service.path("work")).is_empty()
        });
        self.service.verify().assert_code(0);
    }
}
