//! The error of a step. It must keep the kernel's errno and name the missing layer.

use std::{fmt, io};

use model::Layer;

use crate::messages::SetupFailure;

/// A setup step that failed, or that the kernel does not support.
#[derive(Clone, Debug)]
pub(super) struct Failed {
    pub(super) layer: Option<Layer>,
    pub(super) step: String,
    pub(super) errno: i32,
}

impl Failed {
    /// Builds the error of a step that every suitable kernel supports: its layer is missing.
    pub(super) fn without<E: Into<io::Error>>(layer: Layer, step: &str) -> impl FnOnce(E) -> Self {
        let step = step.to_owned();
        move |error| Self { layer: Some(layer), ..Self::at(&step)(error) }
    }

    /// Builds an error that did not come from the kernel.
    pub(super) fn here(step: &str) -> Self {
        Self { layer: None, step: step.to_owned(), errno: 0 }
    }

    /// Builds an error that says nothing about the kernel. `step` is a verb with its object.
    pub(super) fn at<E: Into<io::Error>>(step: &str) -> impl FnOnce(E) -> Self {
        let step = format!("cannot {step}");
        move |error| {
            let error = error.into();
            let errno = errno_behind(&error);
            // A bare errno is complete; the message of a library or of our own check adds detail.
            let step = match error.raw_os_error() {
                Some(_) => step,
                None => format!("{step}: {error}"),
            };
            Self { layer: None, step, errno }
        }
    }

    pub(super) fn into_unable(self) -> SetupFailure {
        SetupFailure { layer: self.layer, step: self.step, errno: self.errno }
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.clone().into_unable().fmt(f)
    }
}

/// Returns the errno behind an error, however deeply it is wrapped; 0 if it has none.
fn errno_behind(error: &io::Error) -> i32 {
    let direct = crate::sys::errno_of(error);
    let mut cause = error.get_ref().map(|inner| inner as &(dyn std::error::Error + 'static));
    while let Some(inner) = cause.filter(|_| direct == 0) {
        let found = inner.downcast_ref::<io::Error>().map_or(0, crate::sys::errno_of);
        if found != 0 {
            return found;
        }
        cause = inner.source();
    }
    direct
}

impl From<SetupFailure> for Failed {
    fn from(SetupFailure { layer, step, errno }: SetupFailure) -> Self {
        Self { layer, step, errno }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Wrapped(io::Error);

    impl fmt::Display for Wrapped {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("library text")
        }
    }

    impl std::error::Error for Wrapped {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn a_failed_step_keeps_the_kernels_answer_through_every_wrapping() {
        let kernels = || io::Error::from_raw_os_error(libc::EROFS);
        for (error, message) in [
            (kernels(), "cannot open it: Read-only file system (os error 30)"),
            (
                io::Error::other(Wrapped(kernels())),
                "cannot open it: library text: Read-only file system (os error 30)",
            ),
            (io::Error::other(kernels()), "cannot open it: Read-only file system (os error 30)"),
            (io::Error::other("own text"), "cannot open it: own text"),
        ] {
            let failed = Failed::without(Layer::Cgroup, "open it")(error);
            assert_eq!(failed.to_string(), message);
        }
    }
}
