//! The parts of a base document while an example changes some. It must not know any rule.

use super::base::Base;

pub(super) struct DocumentParts {
    pub(super) file_name: &'static str,
    /// The text above the front matter.
    pub(super) top: &'static str,
    /// Each key with all its lines.
    front: Vec<(&'static str, String)>,
    pub(super) prose: &'static str,
    sections: Vec<(&'static str, String)>,
}

impl DocumentParts {
    pub(super) fn of(base: Base) -> Self {
        let text = base.text().strip_prefix("---\n").unwrap_or_default();
        let (front, body) = text.split_once("\n---\n").unwrap_or_default();
        let mut keys: Vec<(&str, String)> = Vec::new();
        for line in front.lines() {
            match (line.starts_with(' '), keys.last_mut()) {
                (true, Some((_, lines))) => *lines = format!("{lines}\n{line}"),
                _ => keys.push((line.split(':').next().unwrap_or_default(), line.to_owned())),
            }
        }
        let mut pieces = body.split("\n## ");
        let prose = pieces.next().unwrap_or_default().trim();
        let section = |piece: &'static str| {
            let (title, text) = piece.split_once('\n').unwrap_or((piece, ""));
            (title, text.trim_matches('\n').to_owned())
        };
        let sections = pieces.map(section).collect();
        Self { file_name: base.file_name(), top: "", front: keys, prose, sections }
    }

    pub(super) fn set_key(&mut self, key: &'static str, lines: &str) {
        set_entry(&mut self.front, key, lines);
        self.front.retain(|(_, lines)| !lines.is_empty());
    }

    pub(super) fn set_section(&mut self, title: &'static str, text: &str) {
        set_entry(&mut self.sections, title, text);
    }

    pub(super) fn set_risk(&mut self, start: &str, line: &str) {
        for (_, text) in self.sections.iter_mut().filter(|(title, _)| *title == "Risk Assessment") {
            let bare = |line: &str| line.trim_start_matches(['*', ' ']).starts_with(start);
            let lines = text.lines().map(|old| if bare(old) { line } else { old });
            let kept: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
            *text = kept.join("\n");
        }
    }

    pub(super) fn choose_sections(&mut self, titles: &[&'static str]) {
        let text_of = |title: &&str| self.sections.iter().find(|(known, _)| known == title);
        let choose = |title: &&'static str| {
            let text = text_of(title).map_or("See above.", |(_, text)| text);
            (*title, text.to_owned())
        };
        self.sections = titles.iter().map(choose).collect();
    }

    pub(super) fn into_text(self) -> String {
        let front: Vec<String> = self.front.into_iter().map(|(_, lines)| lines).collect();
        let body: String =
            self.sections.iter().map(|(title, text)| format!("\n## {title}\n\n{text}\n")).collect();
        format!("{}---\n{}\n---\n\n{}\n{body}", self.top, front.join("\n"), self.prose)
    }
}

fn set_entry(entries: &mut Vec<(&'static str, String)>, name: &'static str, text: &str) {
    match entries.iter_mut().find(|(known, _)| *known == name) {
        Some((_, old)) => *old = text.to_owned(),
        None => entries.push((name, text.to_owned())),
    }
}
