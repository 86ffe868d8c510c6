//! The full screen of `toolexec watch`. The terminal is restored on exit. `state` decides what a
//! key does and `draw` renders; neither uses files or the clock. `full` is the event loop that
//! connects them.

mod acts;
mod cells;
mod draw;
mod full;
mod gather;
mod keys;
mod page;
mod panes;
mod seen;
mod state;
mod terminal;

pub(crate) use acts::Hand;
pub(crate) use full::show;
