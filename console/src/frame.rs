//! The frame of each page: the head, the navigation, the place for messages, and the dialog that
//! confirms a signature. `console.js` reads the ids and the `data-` attributes.

use maud::{DOCTYPE, Markup, html};

use crate::assets::assets;

model::closed_set! {
    /// The kind of a page.
    pub(crate) enum PageKind {
        Queue = "queue",
        Request = "request",
        Batch = "batch",
        Standing = "standing",
        Results = "results",
        Result = "result",
        Log = "log",
        Enrol = "enrol",
        Error = "error",
    }
}

model::closed_set! {
    /// A page in the navigation: its address and its name.
    enum NavigationEntry {
        Queue = "/": "Queue",
        Standing = "/standing": "Standing approvals",
        Results = "/results": "Results",
        Log = "/log": "Log",
        Enrol = "/enrol": "Enrol",
    }
}

impl PageKind {
    /// Returns the entry of the page itself. A page of one object or of a selection has none.
    fn entry(self) -> Option<NavigationEntry> {
        match self {
            Self::Queue => Some(NavigationEntry::Queue),
            Self::Standing => Some(NavigationEntry::Standing),
            Self::Results => Some(NavigationEntry::Results),
            Self::Log => Some(NavigationEntry::Log),
            Self::Enrol => Some(NavigationEntry::Enrol),
            Self::Request | Self::Batch | Self::Result | Self::Error => None,
        }
    }
}

/// A page without its content.
pub(crate) struct PageFrame<'t> {
    kind: PageKind,
    title: &'t str,
    has_actions: bool,
    /// The state of a live page, for its stream of changes.
    version: Option<&'t str>,
}

impl<'t> PageFrame<'t> {
    pub(crate) fn new(kind: PageKind, title: &'t str) -> Self {
        Self { kind, title, has_actions: false, version: None }
    }

    /// Adds the dialog that forms with actions need.
    pub(crate) fn with_actions(self) -> Self {
        Self { has_actions: true, ..self }
    }

    /// Adds the state that the page shows.
    pub(crate) fn with_version(self, version: &'t str) -> Self {
        Self { version: Some(version), ..self }
    }

    /// Returns the whole page.
    pub(crate) fn page(&self, content: Markup) -> Markup {
        let live = (self.kind == PageKind::Queue).then_some("queue");
        html! {
            (DOCTYPE)
            html lang="en" {
                (self.head())
                body data-page=(self.kind.as_str()) data-live=[live] data-version=[self.version] {
                    a.skip href="#main" { "Skip to the content" }
                    (self.navigation())
                    main id="main" {
                        h1 { (self.title) }
                        output id="status" role="status" aria-live="polite" {}
                        @if self.has_actions {
                            noscript { p.bad { "Signing needs JavaScript. Reading does not." } }
                        }
                        (content)
                    }
                    @if self.has_actions { (dialog()) }
                    footer {
                        "toolexec-console " (env!("CARGO_PKG_VERSION"))
                        ". This page decides nothing: the daemon checks each signature."
                    }
                }
            }
        }
    }

    fn head(&self) -> Markup {
        let files = assets();
        html! {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (self.title) " · TOOL-EXEC" }
                link rel="icon" type="image/svg+xml" href=(files.icon.path());
                link rel="stylesheet" href=(files.style.path());
                script type="module" src=(files.script.path()) {}
            }
        }
    }

    fn navigation(&self) -> Markup {
        let current = |entry| (self.kind.entry() == Some(entry)).then_some("page");
        html! {
            header {
                nav aria-label="Pages" {
                    ul {
                        @for entry in NavigationEntry::ALL {
                            li {
                                a href=(entry.as_str()) aria-current=[current(*entry)] {
                                    (entry.meaning())
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn dialog() -> Markup {
    html! {
        dialog id="confirm" aria-labelledby="confirm-title" {
            h2 id="confirm-title" { "Sign exactly this text?" }
            pre id="confirm-text" tabindex="0" {}
            dl {
                dt { "SHA-256" }
                dd { code id="confirm-digest" {} }
                dt { "Six words" }
                dd { span.words id="confirm-words" {} }
            }
            p {
                "Compare the words on the page of the draft with those of "
                code { "toolexec review" }
                ". An approval adds your name and the time, so its words are others; the record has "
                "this digest."
            }
            p {
                button.primary id="confirm-yes" type="button" { "Sign with a passkey" }
                " "
                button id="confirm-no" type="button" { "Do not sign" }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_loads_nothing_from_elsewhere_and_has_its_landmarks() {
        let frame = PageFrame::new(PageKind::Request, "<i>").with_actions();
        let page = frame.page(html! { p { "x" } }).into_string();
        assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{page}");
        assert!(page.contains("<body data-page=\"request\"><a class=\"skip\" href=\"#main\">"));
        assert!(page.contains("<h1>&lt;i&gt;</h1>") && page.contains("<dialog id=\"confirm\""));
        assert!(page.contains("<output id=\"status\" role=\"status\" aria-live=\"polite\">"));
        assert!(!page.contains("http") && !page.contains("style=") && !page.contains("onclick"));
        let queue = PageFrame::new(PageKind::Queue, "Queue").page(html! {}).into_string();
        assert!(queue.contains("data-live=\"queue\"") && !queue.contains("<dialog"));
        assert!(queue.contains("<a href=\"/\" aria-current=\"page\">Queue</a>"));
    }
}
