//! Tests of the sources of environments.

mod archives;
