//! Strict YAML as a tree whose nodes know their place. Only maps with plain text keys, lists and
//! scalars exist here: anchors, aliases, tags, merges, directives and further documents are
//! reported and must never take effect, nor may input make this recurse or grow without bound.

use serde_yaml::granit_parser::{Event, Options, Parser, ScalarStyle, Span};

use crate::code::Code;
use crate::report::{Report, Spot};

const DEPTH_MAX: usize = 16;

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) spot: Spot,
    pub(crate) value: Value,
}

#[derive(Debug)]
pub(crate) enum Value {
    /// `plain` says that it stood without quotes, so that YAML may give it another type than text.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) spot: Spot,
    pub(crate) node: Node,
}

/// What a scalar is by YAML's core schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ScalarKind {
    Null,
    Bool,
    Number,
    Text,
}

impl Node {
    pub(crate) fn scalar(&self) -> Option<(&str, ScalarKind)> {
        match &self.value {
            Value::Scalar { text, plain: true } => Some((text, plain_kind(text))),
            Value::Scalar { text, plain: false } => Some((text, ScalarKind::Text)),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.scalar(), Some((_, ScalarKind::Null)))
    }

    /// Calls `see` with every scalar of the tree, keys excepted.
    pub(crate) fn each_scalar(&self, see: &mut dyn FnMut(&str, Spot)) {
        match &self.value {
            Value::Scalar { text, .. } => see(text, self.spot),
            Value::List(items) => items.iter().for_each(|item| item.each_scalar(see)),
            Value::Map(entries) => entries.iter().for_each(|entry| entry.node.each_scalar(see)),
        }
    }
}

fn plain_kind(text: &str) -> ScalarKind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return ScalarKind::Null,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => return ScalarKind::Bool,
        ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN" => return ScalarKind::Number,
        _ => {}
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digit_first = unsigned.trim_start_matches('.').starts_with(|c: char| c.is_ascii_digit());
    let radix = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0o"));
    let number = match radix {
        Some(digits) => !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit()),
        None => unsigned == ".inf" || (digit_first && unsigned.parse::<f64>().is_ok()),
    };
    if number { ScalarKind::Number } else { ScalarKind::Text }
}

/// A collection that is still open while events arrive.
enum Open {
    List(Spot, Vec<Node>),
    Map(Spot, Vec<Entry>, Option<(String, Spot)>),
}

/// Parses YAML whose first line is line `first_line` of the document. None when it cannot be read
/// at all; the reasons are in the report.
pub(crate) fn parse(
    yaml: &str,
    first_line: usize,
    nodes_max: usize,
    report: &mut Report,
) -> Option<Node> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    options.disallow_directives = true;
    options.emit_unresolved_aliases = true;
    options.flow_nesting_limit = DEPTH_MAX;
    options.block_nesting_limit = DEPTH_MAX;
    let mut tree = Tree {
        first_line,
        nodes_max,
        open: Vec::new(),
        root: None,
        nodes: 0,
        documents: 0,
        report,
    };
    for item in Parser::new_from_str_with_options(yaml, options) {
        match item {
            Ok((event, span)) => {
                if !tree.take(event, &span) {
                    return None;
                }
            }
            Err(error) => {
                let mark = error.marker();
                let spot = Spot::new(mark.line() + first_line - 1, mark.col() + 1);
                let message = format!("front matter: not valid YAML: {}", error.info());
                tree.report.error(Code::FrontmatterSyntax, spot, message);
                return None;
            }
        }
    }
    tree.root
}

struct Tree<'r> {
    first_line: usize,
    nodes_max: usize,
    open: Vec<Open>,
    root: Option<Node>,
    nodes: usize,
    documents: usize,
    report: &'r mut Report,
}

impl Tree<'_> {
    /// Takes one event; false ends the reading.
    fn take(&mut self, event: Event<'_>, span: &Span) -> bool {
        let spot = self.spot(span);
        self.nodes += 1;
        if self.nodes > self.nodes_max || self.open.len() > DEPTH_MAX {
            self.report.error(Code::FrontmatterTooLarge, spot, "front matter: too many values");
            return false;
        }
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_marks(anchor, tag.is_some(), spot);
                let plain = style == ScalarStyle::Plain;
                self.place(Node { spot, value: Value::Scalar { text: text.into_owned(), plain } });
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.refuse_marks(anchor, tag.is_some(), spot);
                self.open.push(Open::List(spot, Vec::new()));
            }
            Event::MappingStart(_, anchor, tag) => {
                self.refuse_marks(anchor, tag.is_some(), spot);
                self.open.push(Open::Map(spot, Vec::new(), None));
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                self.refuse(spot, "front matter: aliases are not read", "write the value out");
                let value = Value::Scalar { text: String::new(), plain: true };
                self.place(Node { spot, value });
            }
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    self.refuse(spot, "front matter: a second YAML document", "leave one");
                    return false;
                }
            }
            _ => {}
        }
        true
    }

    fn spot(&self, span: &Span) -> Spot {
        let (start, end) = (&span.start, &span.end);
        let width =
            if start.line() == end.line() { end.col().saturating_sub(start.col()) } else { 0 };
        Spot::new(start.line() + self.first_line - 1, start.col() + 1).wide(width)
    }

    fn refuse(&mut self, spot: Spot, message: &str, hint: &str) {
        self.report.error_hint(Code::FrontmatterSyntax, spot, message, hint);
    }

    fn refuse_marks(&mut self, anchor: usize, tag: bool, spot: Spot) {
        if anchor != 0 {
            self.refuse(spot, "front matter: anchors are not read", "quote a value with `&`");
        }
        if tag {
            self.refuse(spot, "front matter: tags are not read", "quote a value with `!`");
        }
    }

    fn close(&mut self) {
        match self.open.pop() {
            Some(Open::List(spot, items)) => self.place(Node { spot, value: Value::List(items) }),
            Some(Open::Map(spot, entries, _)) => {
                self.place(Node { spot, value: Value::Map(entries) });
            }
            None => {}
        }
    }

    fn place(&mut self, node: Node) {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List(_, items)) => items.push(node),
            Some(Open::Map(_, entries, pending)) => match pending.take() {
                Some((key, spot)) => entries.push(Entry { key, spot, node }),
                None => {
                    let spot = node.spot;
                    let (key, wrong) = key_of(node, entries);
                    *pending = Some((key, spot));
                    if let Some((code, message)) = wrong {
                        self.report.error(code, spot, message);
                    }
                }
            },
        }
    }
}

/// The key that a node stands for, and what is wrong with it.
fn key_of(node: Node, entries: &[Entry]) -> (String, Option<(Code, String)>) {
    let Value::Scalar { text, plain } = node.value else {
        let message = "front matter: a key must be a word".to_owned();
        return (String::new(), Some((Code::FrontmatterSyntax, message)));
    };
    let wrong = if plain && text == "<<" {
        let message = "front matter: merges are not read".to_owned();
        Some((Code::FrontmatterSyntax, message))
    } else if entries.iter().any(|entry| entry.key == text) {
        let message = format!("{}: the key appears twice", crate::text::quote(&text));
        Some((Code::FrontmatterDuplicateKey, message))
    } else {
        None
    };
    (text, wrong)
}
