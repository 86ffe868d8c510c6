//! Tests of the domain types.

mod closed_set;
mod values;
