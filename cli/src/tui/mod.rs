//! The full screen of `toolexec watch`, which is left as it was found. `state` decides what a key does, `draw` how
//! it looks; neither knows a file or a clock. `full` is the loop between them and the world.

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
