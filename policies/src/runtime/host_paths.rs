//! The host paths that a runtime entry shows to a run: mounts, caches, and its own root. The check
//! uses only the spelling of the paths. The daemon checks the files themselves, and may refuse.

use std::path::{Path, PathBuf};

use super::check::RuntimeCheck;
use super::syntax::{is_mountable, is_plain_absolute, may_be_shown};
use super::{CacheRule, CacheSource, WithoutCache};
use crate::raw::{RawCacheRule, RawRuntime, RawWithoutCache};

/// The most host directories, and the most caches, of one runtime. The launcher takes 32 of each; the
/// program's own directory and the libraries of an environment are among them.
const MOUNTS_MAX: usize = 31;
const CACHES_MAX: usize = 31;

/// The parent of every cache in the sandbox.
const CACHES: &str = "/cache";

/// The place of the libraries of an environment in the sandbox, which no cache may have.
pub(crate) const ENVIRONMENT_DIR: &str = "/cache/env";

impl RuntimeCheck<'_, '_> {
    pub(super) fn absolute(&mut self, key: &str, text: &str) -> PathBuf {
        let path = PathBuf::from(text);
        if !is_plain_absolute(&path) {
            let what = format!("`{text}` is not an absolute path");
            self.report(key, what, "write it from the root, without `..`");
        }
        path
    }

    pub(super) fn root(&mut self, form: &RawRuntime) -> Option<PathBuf> {
        let root = self.absolute("root", form.root.as_deref()?);
        if root.is_absolute() && !may_be_shown(&root) {
            let what = format!("`{}` must not be shown to a run", root.display());
            self.report("root", what, "name the directory of an unpacked image");
        }
        if !form.mounts.is_empty() {
            let advice = "write `[]`; a runtime with its own root sees no directories of the host";
            self.report("mounts", "cannot be combined with root", advice);
        }
        if form.binary == "auto" {
            let advice = "write the absolute path of the binary inside the root";
            self.report("binary", "`auto` cannot be combined with root", advice);
        }
        Some(root)
    }

    pub(super) fn mounts(&mut self, written: &[String]) -> Vec<PathBuf> {
        let mut mounts: Vec<PathBuf> = Vec::new();
        if written.len() > MOUNTS_MAX {
            let advice = format!("write {MOUNTS_MAX} or less; one directory shows all below it");
            self.report("mounts", format!("has {} paths", written.len()), &advice);
        }
        for text in written {
            let path = PathBuf::from(text);
            if !is_plain_absolute(&path) {
                let what = format!("`{text}` is not an absolute path");
                self.report("mounts", what, "write it from the root, without `..`");
            } else if !is_mountable(&path) {
                let advice = "name a directory of programs, such as /usr";
                self.report("mounts", format!("`{text}` must not be shown to a run"), advice);
            } else if mounts.contains(&path) {
                self.report("mounts", format!("`{text}` appears twice"), "keep one of them");
            } else {
                mounts.push(path);
            }
        }
        mounts
    }

    pub(super) fn caches(&mut self, forms: &Option<Vec<RawCacheRule>>) -> Vec<CacheRule> {
        let mut caches: Vec<CacheRule> = Vec::new();
        let count = forms.as_ref().map_or(0, Vec::len);
        if count > CACHES_MAX {
            self.report(
                "caches",
                format!("has {count} entries"),
                &format!("write {CACHES_MAX} or less"),
            );
        }
        for form in forms.iter().flatten() {
            let cache = self.cache(form);
            if caches.iter().any(|other| other.target == cache.target) {
                self.report("caches", format!("`{}` appears twice", form.to), "keep one of them");
            }
            caches.push(cache);
        }
        if caches.iter().filter(|cache| cache.source == CacheSource::Warm).count() > 1 {
            let advice = "write the absolute path of the other directory";
            self.report("caches", "`from: warm` appears twice", advice);
        }
        caches
    }

    fn cache(&mut self, form: &RawCacheRule) -> CacheRule {
        let source = if form.from == "warm" {
            CacheSource::Warm
        } else {
            let path = self.absolute("caches", &form.from);
            if path.is_absolute() && !may_be_shown(&path) {
                let advice = "name a separate directory, or write `warm`";
                let what = format!("`{}` must not be shown to a run", form.from);
                self.report("caches", what, advice);
            }
            CacheSource::Path(path)
        };
        let target = self.absolute("caches", &form.to);
        let below = target.strip_prefix(CACHES).is_ok_and(|rest| rest.components().count() == 1);
        if target.is_absolute() && !below {
            let what = format!("`{}` is not a path for a cache", form.to);
            self.report("caches", what, "write a path directly below /cache, such as /cache/go");
        }
        if target == Path::new(ENVIRONMENT_DIR) {
            let what = format!("`{}` is the place of environments", form.to);
            self.report("caches", what, "write another path, such as /cache/go");
        }
        if let Some(name) = &form.variable {
            self.variable("caches", name);
        }
        let without = match form.without {
            RawWithoutCache::Run => WithoutCache::Run,
            RawWithoutCache::Refuse => WithoutCache::Refuse,
        };
        CacheRule { source, target, variable: form.variable.clone(), without }
    }
}
