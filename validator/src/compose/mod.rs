//! What somebody wants to ask for, and the text of a request that says it. A composition is no
//! proof of anything: [`crate::Draft::check`] is the only judge of the text. Printing must never
//! let one field's words become another field, another section or another command.

mod line;
mod model;
mod print;
mod quote;
mod reprint;

pub use self::model::{
    ComposedAgent, ComposedInput, ComposedOutput, ComposedRisk, ComposedWork, Composition,
};
pub use line::{NotOneLine, OneLine};
pub use quote::quote_words;
pub(crate) use quote::yaml;
pub use reprint::Unprintable;

impl Composition {
    /// The whole file. It is one that [`crate::Draft::check`] reads back as this composition, or
    /// refuses: what is wrong with the values is said there, with its place.
    #[must_use]
    pub fn to_text(&self) -> String {
        print::text(self)
    }
}
