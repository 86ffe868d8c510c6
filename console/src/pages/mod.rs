//! The pages, each made from the spool at the moment of the request. They work without JavaScript,
//! except for signing and for live output.

mod actions;
mod batch_page;
mod draft_inputs;
mod enrol_page;
mod listed_violations;
mod log_page;
mod queue_page;
mod request_facts;
mod request_page;
mod result_content;
mod result_page;
mod results_page;
mod shown_draft;
mod standing_page;
mod standing_terms;

pub(crate) use batch_page::batch;
pub(crate) use enrol_page::enrol;
pub(crate) use log_page::log;
pub(crate) use queue_page::queue;
pub(crate) use request_page::request;
pub(crate) use result_page::result;
pub(crate) use results_page::results;
pub(crate) use standing_page::{standing, standing_list};
