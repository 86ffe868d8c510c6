//! The configured destinations of the metrics.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

const INTERVAL_SEC: u64 = 15;
const INTERVAL_SEC_MAX: u64 = 3600;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawMetricsConfig {
    pub(crate) file: Option<PathBuf>,
    pub(crate) socket: Option<PathBuf>,
    interval_sec: Option<u64>,
}

/// The destinations of the metrics.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MetricsSettings {
    /// For node_exporter's textfile collector.
    pub file: Option<PathBuf>,
    /// The path of the Unix socket.
    pub socket: Option<PathBuf>,
    /// The shortest interval between two writes of the file.
    pub interval: Duration,
}

impl Default for MetricsSettings {
    fn default() -> Self {
        Self { file: None, socket: None, interval: Duration::from_secs(INTERVAL_SEC) }
    }
}

impl RawMetricsConfig {
    pub(crate) fn settings(self) -> Result<MetricsSettings, String> {
        if self.file.is_none() && self.socket.is_none() {
            return Err("metrics: neither file nor socket; help: set one of them".to_owned());
        }
        let interval = self.interval_sec.unwrap_or(INTERVAL_SEC);
        if !(1..=INTERVAL_SEC_MAX).contains(&interval) {
            return Err(format!(
                "metrics.interval_sec: {interval} is out of range; help: set it to 1 to \
                 {INTERVAL_SEC_MAX} seconds"
            ));
        }
        if let Some(file) = &self.file {
            if file.extension().is_none_or(|extension| extension != "prom") {
                let shown = file.display();
                return Err(format!(
                    "metrics.file: \"{shown}\" does not end in .prom; help: rename it, because \
                     node_exporter reads only *.prom"
                ));
            }
            check_parent_directory("metrics.file", file)?;
        }
        if let Some(socket) = &self.socket {
            check_parent_directory("metrics.socket", socket)?;
        }
        let (file, socket) = (self.file, self.socket);
        Ok(MetricsSettings { file, socket, interval: Duration::from_secs(interval) })
    }
}

fn check_parent_directory(key: &str, path: &Path) -> Result<(), String> {
    let shown = path.display();
    if !path.is_absolute() {
        return Err(format!("{key}: \"{shown}\" is not an absolute path; help: begin it with /"));
    }
    match path.parent() {
        Some(parent) if parent.is_dir() && path.file_name().is_some() => Ok(()),
        _ => Err(format!("{key}: the directory of \"{shown}\" does not exist; help: create it")),
    }
}
