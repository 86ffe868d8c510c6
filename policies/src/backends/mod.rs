//! Backends: what runs a tool inside the sandbox. `confined`, the sandbox alone, is always offered.
//! A policy may add others, and a request names one. A backend must never replace the sandbox.

mod check;
mod model;
mod raw;
mod roots;

pub(crate) use self::check::BackendRules;
pub(crate) use self::model::CONFINED;
pub use self::model::{
    BackendFile, BackendForm, BackendKind, BackendLocation, BackendRule, CODE_FILE, GrantedBackend,
    GrantedMachine, INPUTS_FILE, InstalledBackend, InstalledBackends, MACHINE_REPORT_FILE,
    MicrovmRoot, MicrovmRule, RESULT_FILE, VmAccelerator,
};
pub(crate) use self::raw::RawBackend;
