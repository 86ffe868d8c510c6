//! The form of one backend in a policy file. Only `check` may use it, because nothing here is
//! checked yet.

use std::collections::BTreeMap;

use crate::number::WholeNumber;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawBackend {
    /// `interpreter`, or `microvm`.
    pub(crate) kind: RawBackendKind,
    /// The program, by its absolute path; links are followed. `auto` if left out: beside the
    /// daemon's own program, then in `/usr/libexec/toolexec`.
    pub(crate) program: Option<String>,
    /// For `microvm`: the directory of the kernel, the initial RAM disk and the root images;
    /// `/usr/lib/toolexec/microvm` if left out.
    pub(crate) files: Option<String>,
    /// For `microvm`: the permitted accelerators, `kvm` and `tcg`, the preferred one first. `kvm`
    /// counts only where a guest booted with it (docs/microvm.md).
    pub(crate) accel: Option<Vec<RawAccelerator>>,
    /// MiB of a request's memory that the backend itself uses; 112 if left out for `microvm`. An
    /// interpreter needs the key.
    pub(crate) memory_extra_mb: Option<WholeNumber>,
    /// For `microvm`: the seconds within which the guest must have started; 20 if left out.
    pub(crate) boot_sec: Option<WholeNumber>,
    /// For `microvm`: the root images `root-NAME` and their programs. If left out: `python` with
    /// `python` and `python3`, and `shell` with small programs such as `sort` (docs/microvm.md).
    pub(crate) roots: Option<BTreeMap<String, RawMicrovmRoot>>,
    /// The digests that its files must have, each 64 hexadecimal digits: `program`; of `microvm`
    /// also `qemu`, `mkfs`, `kernel`, `initrd` and `root-NAME`. With another file the backend is
    /// unavailable.
    pub(crate) sha256: Option<BTreeMap<String, String>>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawMicrovmRoot {
    /// The language that requests must declare; any if left out.
    pub(crate) language: Option<String>,
    /// The absolute path of a program in the image, by the first word of a command.
    pub(crate) words: BTreeMap<String, String>,
}

#[derive(Clone, Copy, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawBackendKind {
    Interpreter,
    Microvm,
}

#[derive(Clone, Copy, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawAccelerator {
    Kvm,
    Tcg,
}
