//! A separate spool for a test, and approved requests with one input file each. It must never
//! decide anything itself: its approvals come from the shipped policy.

#![allow(dead_code, reason = "tests and the bench use their parts of the scene")]
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare fails"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use model::{ClaimId, HostAudience, Sha256, UtcTime};
use policies::{Approved, Decision, DecisionEvidence, InstalledRuntimes, Policy, SubmissionOrigin};
use spool::{Claimed, Spool, SpoolPaths, StageError, Staged};
use validator::{FileLocation, Violation};

const NOW: &str = "2026-02-09T17:00:00Z";
const ID: &str = "TR-20260209-160501Z-stage";

/// Makes the names of directories and claims unique within the process.
static COUNT: AtomicU64 = AtomicU64::new(0);

pub(crate) struct SpoolScene {
    pub(crate) top: PathBuf,
    policy: Policy,
}

impl Drop for SpoolScene {
    fn drop(&mut self) {
        // Only root can empty the read-only copies of folders as they are.
        let writable = Command::new("chmod").args(["-R", "u+w"]).arg(&self.top).status().unwrap();
        assert!(writable.success());
        fs::remove_dir_all(&self.top).unwrap();
    }
}

impl SpoolScene {
    pub(crate) fn new() -> Self {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolexec-stage-{}-{count}", std::process::id());
        let top = std::env::temp_dir().join(name);
        fs::create_dir(&top).unwrap();
        fs::create_dir(top.join("inputs")).unwrap();
        let text = Policy::shipped_text("embedded").unwrap();
        let policy = Policy::parse(text.replace("1 GiB", "2 GiB").as_bytes(), "scene").unwrap();
        Self { top, policy }
    }

    pub(crate) fn spool(&self) -> Spool {
        let state = self.top.join("state");
        let results = state.join("results");
        let log = state.join("log");
        Spool::open_embedded(&SpoolPaths { state: state.clone(), spool: state, results, log })
            .unwrap()
    }

    pub(crate) fn input(&self) -> PathBuf {
        self.top.join("inputs/data.bin")
    }

    pub(crate) fn stored(&self, sha256: &Sha256) -> PathBuf {
        self.top.join("state/inputs").join(sha256.to_string())
    }

    /// Claims an approved request that declares the input with this digest.
    pub(crate) fn claim(&self, spool: &Spool, sha256: &Sha256) -> (Approved, Claimed) {
        self.claim_input(spool, "data.bin", sha256)
    }

    /// Claims an approved request that declares one input.
    pub(crate) fn claim_input(
        &self,
        spool: &Spool,
        name: &str,
        sha256: &Sha256,
    ) -> (Approved, Claimed) {
        let path = self.top.join(format!("{ID}.md"));
        fs::write(&path, request(name, sha256)).unwrap();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let id = ClaimId::from_random(u128::from(count).to_be_bytes());
        let (draft, claimed) = spool.claim_file(&path, Some(&self.top.join("inputs")), id).unwrap();
        let now: UtcTime = NOW.parse().unwrap();
        let checked = draft.check(FileLocation::Elsewhere, now);
        let Ok(request) = checked.verdict else { panic!("{:#?}", checked.violations) };
        let binaries: InstalledRuntimes = [("python", "/usr/bin/python3")].into_iter().collect();
        let evidence = DecisionEvidence {
            submission: SubmissionOrigin::Invoked { uid: 1000, name: Some("alice".to_owned()) },
            signatures: claimed.signatures(),
            unread_signatures: claimed.unread_signatures(),
            signers: None,
            host: HostAudience::default(),
            ledger: policies::LedgerEvidence::Unused,
            standing: policies::StandingEvidence::NotQueried,
            environment: &policies::EnvironmentEvidence::Unnamed,
            permission: policies::PermissionEvidence::NotQueried,
            ais: policies::AisEvidence {
                file: &policies::AisFile::Missing,
                trust: None,
                supply: &policies::ais::EnvironmentDigests::default(),
                nonces_used: Some(&std::collections::HashSet::new()),
            },
            binaries: &binaries,
            now,
        };
        match policies::authorise(request, &self.policy, &evidence) {
            Decision::Approve(approved) => (approved, claimed),
            Decision::Hold { violations, .. } | Decision::Refuse { violations, .. } => {
                panic!("{violations:#?}")
            }
        }
    }

    /// Stages the input, approved with this digest. Returns the codes of the violations on failure.
    pub(crate) fn stage(&self, spool: &Spool, sha256: &Sha256) -> Result<Staged, Vec<String>> {
        let staged = self.stage_input(spool, "data.bin", sha256);
        staged.map_err(|all| all.iter().map(|it| it.code.as_str().into_owned()).collect())
    }

    /// Stages an input. Returns the violations on failure.
    pub(crate) fn stage_input(
        &self,
        spool: &Spool,
        name: &str,
        sha256: &Sha256,
    ) -> Result<Staged, Vec<Violation>> {
        let (approved, claimed) = self.claim_input(spool, name, sha256);
        let failed = match spool.stage(approved, claimed) {
            Ok(staged) => return Ok(staged),
            Err(failed) => *failed,
        };
        match failed {
            StageError::Disk { error, .. } => panic!("{error}"),
            StageError::Refused { claimed, violations, .. } => {
                let slot = spool.staging().join(claimed.id().as_str());
                assert!(!slot.exists(), "the slot of a refused request is still there");
                spool.abandon(claimed);
                Err(violations)
            }
        }
    }
}

/// Returns the file that the sandbox would see.
pub(crate) fn staged_file(spool: &Spool, staged: &Staged) -> PathBuf {
    spool.staging().join(staged.claimed().id().as_str()).join("data.bin")
}

pub(crate) fn sha256_of(path: &Path) -> Sha256 {
    Sha256::of(&fs::read(path).unwrap())
}

fn request(name: &str, sha256: &Sha256) -> String {
    format!(
        "---\nrequest_type: tool_request\nschema_version: 1\nrequest_id: \"{ID}\"\n\
         created_utc: \"2026-02-09T16:05:01Z\"\nrequested_by: human\napproved_by: alice\n\
         approved_utc: \"2026-02-09T16:12:00Z\"\npurpose: \"Look at a file.\"\nlanguage: python\n\
         network: none\ncpu_limit: \"1\"\nmemory_limit_mb: 64\ntime_limit_sec: 10\n\
         inputs:\n  - name: \"{name}\"\n    sha256: \"{sha256}\"\noutputs_expected: []\n\
         constraints: []\n---\n\n## Command\n\npython -V\n\n## Input Files\n\n\
         - /in/{name}\n\n## Output Expectations\n\nNone.\n\n## Risk Assessment\n\n\
         - Risk level: low\n- Justification: it looks\n- Data sensitivity: public\n\
         - Network rationale: none\n"
    )
}
