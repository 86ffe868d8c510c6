//! Builds an environment and stores it, for `env build` and `exec --env auto`. An interrupted build
//! leaves nothing but a draft, which the next build removes.

use std::env;
use std::path::Path;
use std::time::Duration;

use environments::{SourceKind, SourceTools, UnpackLimits, build_tree};
use rustix::process::getuid;
use trees::{BuildFacts, Environment, EnvironmentName, EnvironmentStore};

use super::args::{TREE_LIMITS, draft_name};
use super::error::EnvironmentCommandError;
use super::progress::{EnvironmentProgress, LeftOut};
use super::signals::interrupt_by_signals;
use super::signer::{BuildSigner, FinishedBuild};
use crate::failure::Failure;
use crate::{clock, output};

/// The interpreter for which Python packages are built by default.
pub(in crate::commands) const BUILD_PYTHON: &str = "/usr/bin/python3";
/// The default limit of the time that each program may take.
pub(in crate::commands) const BUILD_TIME_SEC: u64 = 1800;

/// An environment that is to be built.
pub(in crate::commands) struct EnvironmentBuild<'a> {
    pub(in crate::commands) name: &'a EnvironmentName,
    /// The source, as an absolute path.
    pub(in crate::commands) source: &'a Path,
    pub(in crate::commands) kind: SourceKind,
    pub(in crate::commands) python: &'a Path,
    pub(in crate::commands) time_max: Duration,
}

/// An environment that was built and stored.
pub(super) struct BuiltEnvironment {
    pub(super) environment: Environment,
    left_out: LeftOut,
    /// The reason why its build is not signed.
    unsigned: Option<String>,
}

impl EnvironmentBuild<'_> {
    /// Builds it, stores it, and signs the record of the build.
    pub(super) fn build(
        &self,
        store: &EnvironmentStore,
        sign_key: Option<&Path>,
    ) -> Result<BuiltEnvironment, EnvironmentCommandError> {
        let (signer, started) = (BuildSigner::open(store, sign_key)?, clock::now());
        let draft = store.draft(draft_name()?)?;
        // A second draft, so that it is removed as the first one if the build is interrupted.
        let scratch = store.draft(draft_name()?)?;
        let tools = self.tools(scratch.tree())?;
        let mut progress = EnvironmentProgress::begin()?;
        let mut events = |event| progress.event(event);
        let built = build_tree(self.source, self.kind, draft.tree(), &tools, &mut events)?;
        drop(scratch);
        let facts = BuildFacts {
            name: self.name.clone(),
            source: built.source,
            built: clock::now(),
            uid: getuid().as_raw(),
        };
        let stored = store.add(draft, &built.content, &facts, &TREE_LIMITS);
        let left_out = progress.left_out();
        drop(progress);
        let environment = stored?;
        let finished = FinishedBuild { facts: &facts, installer: built.installer, started };
        let unsigned = signer.sign(store, &environment, finished)?;
        Ok(BuiltEnvironment { environment, left_out, unsigned })
    }

    fn tools(&self, scratch: &Path) -> Result<SourceTools, Failure> {
        Ok(SourceTools {
            python: std::path::absolute(self.python).map_err(Failure::io(self.python))?,
            scratch: scratch.to_owned(),
            variables: env::vars_os().collect(),
            time_max: self.time_max,
            limits: UnpackLimits::default(),
            interrupt: interrupt_by_signals()?,
        })
    }
}

impl BuiltEnvironment {
    /// Prints the reason why the build is not signed, and the numbers of programs that cannot be
    /// named by one word and of variables that are not set, if there are any.
    pub(super) fn note_facts(&self) {
        let (name, LeftOut { programs, variables }) = (&self.environment.name, self.left_out);
        if programs > 0 {
            output::note(format_args!(
                "{name}: {programs} programs did not fit into its list; help: name them by path"
            ));
        }
        if let Some(why) = &self.unsigned {
            output::note(format_args!(
                "{name}: the build is not signed: {why}; help: name a key with --sign-key of \
                 `toolexec env build`"
            ));
        }
        if variables > 0 {
            output::note(format_args!(
                "{name}: {variables} variables of the image were left out; help: let the command \
                 set them"
            ));
        }
    }
}
