//! A composition: the values of a request or of a standing approval, and the text that states them.
//! A composition proves nothing; only the readers validate the text ([`crate::Draft::check`],
//! [`crate::StandingApproval::read`]). Printing must never let the text of one field become another
//! field, section or command.

mod line;
mod model;
mod print;
mod quote;
mod reprint;
mod standing;

pub use self::model::{
    ComposedAgent, ComposedInput, ComposedOutput, ComposedRisk, ComposedWork, Composition,
};
pub use line::{NotOneLine, OneLine};
pub use quote::quote_words;
pub(crate) use quote::yaml;
pub use reprint::NotReprintable;
pub use standing::{ComposedExample, ComposedSlot, StandingComposition};

impl Composition {
    /// Returns the file; [`crate::Draft::check`] reads it back as this composition or refuses it.
    #[must_use]
    pub fn to_text(&self) -> String {
        print::text(self)
    }
}
