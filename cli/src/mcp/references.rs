//! The references that arguments of tools may contain: of requests, results, standing approvals and
//! environments. They are parsed here and nowhere else, so that no later value can contain a path.

use std::borrow::Cow;

use model::{EnvironmentReference, RequestId, ResultId, StandingReference};
use rmcp::schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// The id of a request or result. It is parsed, so it cannot be a path.
#[derive(Clone, Debug)]
pub(super) enum AnyId {
    Request(RequestId),
    Result(ResultId),
}

impl<'de> Deserialize<'de> for AnyId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let typed = Cow::<str>::deserialize(from)?;
        let result = || typed.parse().map(Self::Result);
        typed.parse().map(Self::Request).or_else(|_| result()).map_err(|_| {
            D::Error::custom(
                "not the id of a request (TR-YYYYMMDD-HHMMSSZ-slug) or of a result (TS-…)",
            )
        })
    }
}

impl JsonSchema for AnyId {
    fn schema_name() -> Cow<'static, str> {
        "Id".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^T[RS]-", "maxLength": 200 })
    }
}

/// The reference of a standing approval. It is parsed, so it cannot be a path.
pub(super) struct StandingArgument(pub(super) StandingReference);

impl<'de> Deserialize<'de> for StandingArgument {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let typed = Cow::<str>::deserialize(from)?;
        typed.parse().map(Self).map_err(D::Error::custom)
    }
}

impl JsonSchema for StandingArgument {
    fn schema_name() -> Cow<'static, str> {
        "StandingReference".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^SA-.+@sha256:[0-9a-f]{64}$" })
    }
}

/// The reference of an environment. It is parsed, so it cannot be a path.
pub(super) struct EnvironmentArgument(pub(super) EnvironmentReference);

impl<'de> Deserialize<'de> for EnvironmentArgument {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let typed = Cow::<str>::deserialize(from)?;
        typed.parse().map(Self).map_err(D::Error::custom)
    }
}

impl JsonSchema for EnvironmentArgument {
    fn schema_name() -> Cow<'static, str> {
        "EnvironmentReference".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let pattern = "^[a-z0-9][a-z0-9-]{0,39}@sha256:[0-9a-f]{64}$";
        json_schema!({ "type": "string", "pattern": pattern })
    }
}
