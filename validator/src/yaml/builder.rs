//! Reads YAML into a tree. Anchors, aliases, tags, merges, directives and further documents are
//! reported and never take effect. No input may cause recursion or nonlinear time or growth.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use model::SourceSpan;
use serde_yaml::granit_parser::{Event, Marker, Options, Parser, ScalarStyle, Span};

use super::syntax::syntax_violation;
use super::{YamlEntry, YamlNode, YamlValue};
use crate::code::Code;
use crate::report::Report;

const DEPTH_MAX: usize = 16;

/// A collection that is open while events arrive.
enum OpenCollection {
    List(SourceSpan, Vec<YamlNode>),
    Map(SourceSpan, Vec<YamlEntry>, YamlKeyIndex, Option<(String, SourceSpan)>),
}

/// The keys of a map by hash, so that a large map is not searched for each key.
#[derive(Default)]
struct YamlKeyIndex(BTreeMap<u64, usize>);

impl YamlKeyIndex {
    /// Returns true if an entry has this key; otherwise records it for the next entry.
    fn has(&mut self, key: &str, entries: &[YamlEntry]) -> bool {
        // The hasher has a fixed seed, so the check depends only on the text.
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let first = *self.0.entry(hasher.finish()).or_insert(entries.len());
        match entries.get(first) {
            Some(entry) if entry.key == key => true,
            // A different key with the same hash, which an author cannot construct at will.
            Some(_) => entries.iter().any(|entry| entry.key == key),
            None => false,
        }
    }
}

/// The starts of the document's lines within the YAML, if they differ from YAML's own lines: for
/// YAML, a lone carriage return ends a line.
struct YamlLineStarts(Option<Vec<usize>>);

impl YamlLineStarts {
    fn of(yaml: &str) -> Self {
        let alone = yaml.split_inclusive('\n').any(|line| {
            line.strip_suffix('\n')
                .map_or(line, |it| it.strip_suffix('\r').unwrap_or(it))
                .contains('\r')
        });
        let ends = || yaml.match_indices('\n').map(|(at, _)| at + 1).collect();
        Self(alone.then(ends))
    }

    /// Returns the position of a mark in the document, given the line where the YAML begins.
    fn spot(&self, mark: &Marker, first_line: usize) -> SourceSpan {
        match (&self.0, mark.byte_offset()) {
            (None, _) | (_, None) => SourceSpan::new(mark.line() + first_line - 1, mark.col() + 1),
            (Some(ends), Some(at)) => {
                SourceSpan::new(ends.partition_point(|end| *end <= at) + first_line, 0)
            }
        }
    }
}

/// Parses YAML that begins on line `first_line`. None if unreadable; the report has the reasons.
pub(crate) fn parse(
    yaml: &str,
    first_line: usize,
    nodes_max: usize,
    report: &mut Report,
) -> Option<YamlNode> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    options.disallow_directives = true;
    options.emit_unresolved_aliases = true;
    options.flow_nesting_limit = DEPTH_MAX;
    options.block_nesting_limit = DEPTH_MAX;
    let mut tree = YamlTreeBuilder {
        first_line,
        lines: YamlLineStarts::of(yaml),
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
                if !tree.handle_event(event, &span) {
                    return None;
                }
            }
            Err(error) => {
                let spot = tree.lines.spot(error.marker(), first_line);
                tree.report.add(syntax_violation(&error).within(spot));
                return None;
            }
        }
    }
    tree.root
}

struct YamlTreeBuilder<'r> {
    first_line: usize,
    lines: YamlLineStarts,
    nodes_max: usize,
    open: Vec<OpenCollection>,
    root: Option<YamlNode>,
    nodes: usize,
    documents: usize,
    report: &'r mut Report,
}

impl YamlTreeBuilder<'_> {
    /// Handles one event; returns false to stop reading.
    fn handle_event(&mut self, event: Event<'_>, span: &Span) -> bool {
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
                self.place(YamlNode {
                    spot,
                    value: YamlValue::Scalar { text: text.into_owned(), plain },
                });
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.refuse_marks(anchor, tag.is_some(), spot);
                self.open.push(OpenCollection::List(spot, Vec::new()));
            }
            Event::MappingStart(_, anchor, tag) => {
                self.refuse_marks(anchor, tag.is_some(), spot);
                self.open.push(OpenCollection::Map(
                    spot,
                    Vec::new(),
                    YamlKeyIndex::default(),
                    None,
                ));
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                self.refuse(spot, "front matter: aliases are not supported", "write out the value");
                let value = YamlValue::Scalar { text: String::new(), plain: true };
                self.place(YamlNode { spot, value });
            }
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    self.refuse(spot, "front matter: a second YAML document", "keep one document");
                    return false;
                }
            }
            _ => {}
        }
        true
    }

    fn spot(&self, span: &Span) -> SourceSpan {
        let (start, end) = (&span.start, &span.end);
        let spot = self.lines.spot(start, self.first_line);
        let one_line = start.line() == end.line() && spot.column > 0;
        spot.with_width(if one_line { end.col().saturating_sub(start.col()) } else { 0 })
    }

    fn refuse(&mut self, spot: SourceSpan, message: &str, hint: &str) {
        self.report.error_hint(Code::FrontmatterSyntax, spot, message, hint);
    }

    fn refuse_marks(&mut self, anchor: usize, tag: bool, spot: SourceSpan) {
        if anchor != 0 {
            let hint = "quote a value that contains `&`";
            self.refuse(spot, "front matter: anchors are not supported", hint);
        }
        if tag {
            let hint = "quote a value that contains `!`";
            self.refuse(spot, "front matter: tags are not supported", hint);
        }
    }

    fn close(&mut self) {
        match self.open.pop() {
            Some(OpenCollection::List(spot, items)) => {
                self.place(YamlNode { spot, value: YamlValue::List(items) })
            }
            Some(OpenCollection::Map(spot, entries, ..)) => {
                self.place(YamlNode { spot, value: YamlValue::Map(entries) });
            }
            None => {}
        }
    }

    fn place(&mut self, node: YamlNode) {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(OpenCollection::List(_, items)) => items.push(node),
            Some(OpenCollection::Map(_, entries, keys, pending)) => match pending.take() {
                Some((key, spot)) => entries.push(YamlEntry { key, spot, node }),
                None => {
                    let spot = node.spot;
                    let (key, wrong) = key_of(node, entries, keys);
                    *pending = Some((key, spot));
                    if let Some((code, message)) = wrong {
                        self.report.error(code, spot, message);
                    }
                }
            },
        }
    }
}

/// The key of a node, and its violation if any.
fn key_of(
    node: YamlNode,
    entries: &[YamlEntry],
    keys: &mut YamlKeyIndex,
) -> (String, Option<(Code, String)>) {
    let YamlValue::Scalar { text, plain } = node.value else {
        let message = "front matter: a key must be a word".to_owned();
        return (String::new(), Some((Code::FrontmatterSyntax, message)));
    };
    let wrong = if plain && text == "<<" {
        let message = "front matter: merges are not supported".to_owned();
        Some((Code::FrontmatterSyntax, message))
    } else if keys.has(&text, entries) {
        let message = format!("{}: the key appears twice", model::quote(&text));
        Some((Code::FrontmatterDuplicateKey, message))
    } else {
        None
    };
    (text, wrong)
}
