//! Strict YAML as a tree of nodes with positions. It consists only of maps with plain text keys,
//! lists and scalars. A value must never change from its written form.

mod builder;
mod model;
mod syntax;

pub(crate) use self::model::{ScalarKind, YamlEntry, YamlNode, YamlValue};
pub(crate) use builder::parse;
