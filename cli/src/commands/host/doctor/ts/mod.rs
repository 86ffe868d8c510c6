//! The TypeScript loader: tsx and its compiler esbuild. The compiled-in lock file pins the version
//! and digest of every package; npm refuses anything else and runs no package script.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use super::program::run;
use crate::failure::Failure;

const FILES: [(&str, &str); 2] = [
    ("package.json", include_str!("package.json")),
    ("package-lock.json", include_str!("package-lock.json")),
];
/// The file that a run loads. The policy names it.
const LOADER: &str = "node_modules/tsx/dist/loader.mjs";

pub(super) fn build_cache(fresh: &Path) -> Result<(), Failure> {
    for (name, content) in FILES {
        let path = fresh.join(name);
        let made = OpenOptions::new().write(true).create_new(true).open(&path);
        let written = made.and_then(|mut file| file.write_all(content.as_bytes()));
        written.map_err(Failure::io(&path))?;
    }
    let mut npm = Command::new("npm");
    let quiet = ["--no-audit", "--no-fund", "--no-update-notifier"];
    npm.args(["ci", "--ignore-scripts"]).args(quiet).current_dir(fresh);
    run(&mut npm, "npm ci")?;
    let loader = fresh.join(LOADER);
    fs::metadata(&loader).map(drop).map_err(Failure::io(&loader))
}
