//! Tests of patches: their texts, their bounds, and git's own reading of them.

mod applied;
mod generator;
mod texts;
