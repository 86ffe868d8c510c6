//! Passkeys of a console on this host: the policy that counts them, and one that no device has.

use crate::service_config::ServiceConfig;

/// A passkey that no device has, so that the console has one to offer. Its public key is the
/// generator of the curve. A name before it makes a line of `allowed_signers`.
pub const ABSENT_PASSKEY: &str = "sk-ecdsa-sha2-nistp256@openssh.com \
    AAAAInNrLWVjZHNhLXNoYTItbmlzdHAyNTZAb3BlbnNzaC5jb20AAAAIbmlzdHAyNTYAAABBBGsX0fLhLEJH+Lzm5WOk\
    QPJ3A32BLeszoPShOUXYmMKWT+NC4v4af5uO5+tKfA+eFivOM1drMV7Oy7ZAaDe/UfUAAAAJbG9jYWxob3N0 \
    webauthn:AQ-_";

impl ServiceConfig {
    /// Counts the passkeys of a console at this port, and of more origins.
    #[must_use]
    #[track_caller]
    pub fn with_passkeys(self, port: u16, more_origins: &[&str]) -> Self {
        let more: String = more_origins.iter().map(|origin| format!(", \"{origin}\"")).collect();
        let passkeys = format!(
            "  user_verification: false\n  webauthn:\n    - rp_id: localhost\n      \
             origins: [\"http://localhost:{port}\"{more}]\n      user_verification: true\n      \
             synced: false\n"
        );
        self.edited(&[("  user_verification: false\n", passkeys)])
    }
}
