//! The backend that runs the tool of a request inside the sandbox, if it is not the sandbox alone.

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::Language;
use validator::Request;

use crate::backends::{GrantedBackend, InstalledBackend};
use crate::interpreter::ChosenInterpreter;
use crate::limits::GrantedLimits;
use crate::machine::ChosenMachine;

/// The further backend of a run, as the policy and this host have it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChosenBackend<'a> {
    /// An interpreter.
    Interpreter(ChosenInterpreter<'a>),
    /// A virtual machine.
    Machine(ChosenMachine<'a>),
}

impl ChosenBackend<'_> {
    fn installed(&self) -> &InstalledBackend {
        match self {
            Self::Interpreter(interpreter) => interpreter.installed,
            Self::Machine(machine) => machine.installed,
        }
    }

    pub(crate) fn granted(&self, request: &Request) -> GrantedBackend {
        match self {
            Self::Interpreter(interpreter) => interpreter.granted(),
            Self::Machine(machine) => machine.granted(request),
        }
    }

    pub(crate) fn mounts(&self) -> Vec<PathBuf> {
        self.installed().mounts.clone()
    }

    pub(crate) fn directories(&self) -> BTreeMap<PathBuf, PathBuf> {
        self.installed().directories.clone()
    }

    pub(crate) fn argv(&self, request: &Request) -> Vec<String> {
        match self {
            Self::Interpreter(interpreter) => interpreter.argv(request),
            Self::Machine(machine) => machine.argv(request),
        }
    }

    /// Returns the limits of the sandbox for those of the request.
    pub(crate) fn limits(&self, request: &Request, granted: GrantedLimits) -> GrantedLimits {
        match self {
            Self::Interpreter(_) => granted,
            Self::Machine(machine) => machine.limits(request, granted),
        }
    }

    /// Returns the language whose list of system calls the run needs, if it is not its runtime's.
    pub(crate) fn filter_language(&self) -> Option<Language> {
        match self {
            Self::Interpreter(_) => None,
            // QEMU and the wrapper run with this list.
            Self::Machine(_) => Some(Language::Python),
        }
    }
}
