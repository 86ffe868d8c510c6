//! Strict YAML as a tree whose nodes know their place. Only maps with plain text keys, lists and
//! scalars exist here; a value must never become another than the one that is written.

mod model;
mod tree;

pub(crate) use self::model::{Entry, Node, ScalarKind, Value};
pub(crate) use tree::parse;
