//! The program of a run: a runtime of the policy, with what an environment adds to it or puts in
//! its place. It must never pass anything of the request but the words of its command.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use validator::Request;

use crate::backends::GrantedBackend;
use crate::chosen_backend::ChosenBackend;
use crate::evidence::{InstalledRuntime, OpenedEnvironment};
use crate::runtime::{ENVIRONMENT_DIR, HeapRule, RuntimeRule};

/// The environment variables of every sandbox. A run inherits no variable of the host.
const BASE_ENV: [(&str, &str); 4] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("HOME", "/tmp"),
    ("LANG", "C.UTF-8"),
    ("TZ", "UTC"),
];

/// The runtime and the program that the first word of a command chooses.
#[derive(Clone, Debug)]
pub(crate) struct ChosenWord<'a> {
    /// The runtime of the policy that the program runs on.
    pub(crate) runtime: &'a RuntimeRule,
    /// The program's path in the tree of the environment. `None` for the runtime's own program.
    pub(crate) path: Option<&'a str>,
    /// True if the policy lists the word. Only then the program takes the runtime's arguments.
    pub(crate) is_listed: bool,
}

/// The program of a run, with everything that it sees of this host.
#[derive(Clone, Debug)]
pub(crate) struct ChosenProgram<'a> {
    pub(crate) word: ChosenWord<'a>,
    /// The program to execute, as a path in the sandbox.
    pub(crate) binary: PathBuf,
    /// The runtime on this host. `None` if an environment is the root: it shows nothing of it.
    pub(crate) installed: Option<&'a InstalledRuntime>,
    pub(crate) environment: Option<&'a OpenedEnvironment>,
    /// The backend that runs the tool. `None` for the sandbox alone.
    pub(crate) backend: Option<ChosenBackend<'a>>,
}

impl ChosenProgram<'_> {
    /// Returns the backend as the grant has it.
    pub(crate) fn granted_backend(&self, request: &Request) -> GrantedBackend {
        self.backend.map_or_else(GrantedBackend::confined, |it| it.granted(request))
    }

    /// Returns the host directory that replaces the host's own programs.
    pub(crate) fn root(&self) -> Option<PathBuf> {
        match self.environment {
            Some(opened) if opened.is_root => Some(opened.tree.clone()),
            _ => self.word.runtime.root().map(Path::to_owned),
        }
    }

    /// Returns the host directories that the sandbox shows at their own paths.
    pub(crate) fn mounts(&self) -> Vec<PathBuf> {
        if let Some(backend) = self.backend {
            return backend.mounts();
        }
        let Some(installed) = self.installed else { return Vec::new() };
        self.word.runtime.mounts().iter().chain(&installed.prefix).cloned().collect()
    }

    /// Returns the caches, as host path by sandbox path. Libraries are one more cache.
    pub(crate) fn caches(&self) -> BTreeMap<PathBuf, PathBuf> {
        if let Some(backend) = self.backend {
            return backend.directories();
        }
        let mut caches = self.installed.map(|it| it.caches.clone()).unwrap_or_default();
        if let Some(opened) = self.environment.filter(|it| !it.is_root) {
            caches.insert(PathBuf::from(ENVIRONMENT_DIR), opened.tree.clone());
        }
        caches
    }

    /// Returns the base variables, then those of the runtime, the host, the request and the
    /// environment.
    pub(crate) fn variables(&self, request: &Request) -> Vec<(String, String)> {
        let runtime = self.word.runtime;
        let mut own = runtime.env().to_vec();
        for cache in runtime.caches() {
            if let Some(name) = &cache.variable
                && self.installed.is_some_and(|it| it.caches.contains_key(&cache.target))
            {
                own.push((name.clone(), cache.target.display().to_string()));
            }
        }
        if let HeapRule::Variable(name) = runtime.heap() {
            own.push((name.clone(), format!("{}MiB", heap_mb(request))));
        }
        for (name, value) in self.environment.iter().flat_map(|it| &it.variables) {
            // libc would decide which of two values counts.
            if !own.iter().any(|(ours, _)| ours == name) {
                own.push((name.clone(), value.clone()));
            }
        }
        let mut all: Vec<(String, String)> = BASE_ENV
            .iter()
            .filter(|(name, _)| !own.iter().any(|(theirs, _)| theirs == name))
            .map(|&(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        all.append(&mut own);
        all
    }

    /// Returns the words of the command, with the runtime's arguments after the first; of a further
    /// backend, its own.
    pub(crate) fn argv(&self, request: &Request) -> Vec<String> {
        if let Some(backend) = self.backend {
            return backend.argv(request);
        }
        if !self.word.is_listed {
            return request.argv().to_vec();
        }
        let runtime = self.word.runtime;
        let flag = match runtime.heap() {
            HeapRule::Flag(flag) => Some(format!("{flag}={}", heap_mb(request))),
            HeapRule::Unset | HeapRule::Variable(_) => None,
        };
        let (first, rest) = request.argv().split_at(request.argv().len().min(1));
        let before = flag.into_iter().chain(runtime.arguments().iter().cloned());
        first.iter().cloned().chain(before).chain(rest.iter().cloned()).collect()
    }
}

/// Returns three quarters of the memory limit, because a runtime also uses memory outside its heap.
/// Without this limit V8 plans for the host's memory and is killed before it can report the lack.
fn heap_mb(request: &Request) -> u64 {
    (request.memory_limit_mb() / 4 * 3).max(1)
}
