//! The verified statement of a browser about a signature, and the reasons why one cannot count.

use std::fmt;

/// The statement of a browser and a passkey about one signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WebauthnFacts {
    pub(super) rp_id: String,
    pub(super) origin: String,
    pub(super) backup_eligible: bool,
    pub(super) backed_up: bool,
}

impl WebauthnFacts {
    /// Returns the domain for which the passkey was made.
    #[must_use]
    pub fn rp_id(&self) -> &str {
        &self.rp_id
    }

    /// Returns the origin of the page that asked, `scheme://host[:port]` as the browser writes it.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns whether the passkey may be copied to other devices.
    #[must_use]
    pub fn backup_eligible(&self) -> bool {
        self.backup_eligible
    }

    /// Returns whether the passkey has been copied.
    #[must_use]
    pub fn backed_up(&self) -> bool {
        self.backed_up
    }
}

/// The reason why the statement of a browser cannot count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WebauthnProblem {
    /// The flags contradict each other or the extension data, or state a new key.
    Flags,
    /// The client data is larger than 4 KiB, or not JSON that all readers understand alike.
    ClientData,
    /// A member of the client data differs from the text that was compared.
    Member(&'static str),
    /// The page that asked was inside a page of another origin.
    Embedded,
}

impl fmt::Display for WebauthnProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flags => f.write_str("its flags contradict each other"),
            Self::ClientData => {
                f.write_str("its client data is larger than 4 KiB or not unambiguous JSON")
            }
            Self::Member(name) => write!(f, "`{name}` of its client data differs"),
            Self::Embedded => f.write_str("for a page inside a page of another origin"),
        }
    }
}

impl std::error::Error for WebauthnProblem {}
