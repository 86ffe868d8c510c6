//! The full screen of `toolexec watch`. The terminal is restored on exit. `state` decides what a
//! key does and `draw` renders; neither uses files or the clock. `full` is the event loop that
//! connects them.

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
