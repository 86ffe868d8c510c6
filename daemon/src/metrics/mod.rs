//! The daemon's metrics. The threads count; the values are rendered as OpenMetrics text into a file
//! for node_exporter's textfile collector, or on a Unix socket. No decision depends on them. Every
//! label has a closed set of values, so that a request cannot add a time series.

mod file;
mod fleet_metrics;
pub(crate) mod model;
mod registry;
mod settings;
mod socket;

pub use self::model::MetricsSocketError;
pub use file::MetricsFile;
pub use registry::{AdmissionStopReason, Metrics, TimedStep};
pub use settings::MetricsSettings;
pub(crate) use settings::RawMetricsConfig;
pub use socket::MetricsSocket;
