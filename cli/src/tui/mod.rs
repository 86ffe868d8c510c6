//! The full screen of `toolexec watch`. `state` decides the effect of a key and `draw` renders;
//! neither uses files or the clock. The event loop in `full` connects them.

mod acts;
mod draw;
mod draw_text;
mod full;
mod gather;
mod keys;
mod page;
mod panes;
mod state;
mod terminal;
mod view;

pub(crate) use acts::SpoolActions;
pub(crate) use full::show;
