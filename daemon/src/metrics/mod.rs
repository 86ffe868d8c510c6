//! Our own numbers, for whoever watches the service: counted by the threads that act, rendered as
//! OpenMetrics text into a file (node_exporter's textfile collector) or for whoever connects to a Unix
//! socket. They tell and must never decide. Every label is of a closed set, so that no request can make a
//! series of its own.

mod file;
pub(crate) mod model;
mod registry;
mod settings;
mod socket;

pub use self::model::SocketError;
pub use file::MetricsFile;
pub use registry::{Metrics, StoppedBy, Timed};
pub(crate) use settings::MetricsForm;
pub use settings::MetricsSettings;
pub use socket::MetricsSocket;
