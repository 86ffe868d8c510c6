//! The roles of keys and the algorithms of signatures, by their names in documents. Any other name
//! is refused.

model::closed_set! {
    /// The role of a key: the artifacts that it may sign.
    #[derive(PartialOrd, Ord)]
    pub enum AisKeyRole {
        /// A user: UIA.
        User = "user",
        /// The runtime of an agent: APA.
        AgentRuntime = "agent-runtime",
        /// A verifier, never also an agent runtime: APr.
        Verifier = "verifier",
        /// The operator of a tool: TCA.
        Operator = "operator",
        /// The program that binds calls after approval: IBE.
        Envelope = "envelope",
        /// A host: SCA.
        Host = "host",
        /// The party that revokes: CRL.
        Revocation = "revocation",
    }
}

model::deserialize_closed_set!(AisKeyRole);

model::closed_set! {
    /// The algorithm of a signature (RFC 7518, RFC 8037).
    pub enum Algorithm {
        /// Ed25519.
        EdDSA = "EdDSA",
        /// ECDSA on P-256 with SHA-256.
        ES256 = "ES256",
        /// HMAC with SHA-256, for demonstrations: its verifier could have signed as well.
        HS256 = "HS256",
    }
}

model::deserialize_closed_set!(Algorithm);
