//! A patch of git's format as text for people. Its content is untrusted: a control or deceptive
//! character must never reach a terminal, and a line of a file must never look like a header.

use annotate_snippets::renderer::{AnsiColor, Effects, Style};
use patches::{PatchLineKind, PatchLineReader};
use validator::{decode_text, reveal_line};

use crate::output::screen::OutputScreen;

const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const HUNK: Style = AnsiColor::Cyan.on_default();
const HEADER: Style = Style::new().effects(Effects::BOLD);
const PLAIN: Style = Style::new();

/// Formats a patch: escaped, and coloured if the screen has colours.
pub(crate) fn patch_text(screen: OutputScreen, patch: &[u8]) -> String {
    let (text, _) = decode_text(patch);
    let mut shown = String::with_capacity(text.len());
    let mut reader = PatchLineReader::default();
    for line in text.split_inclusive('\n') {
        let end = line.strip_suffix('\n');
        let line = end.unwrap_or(line);
        let style = style_of(reader.kind_of(line));
        let line = reveal_line(line);
        match screen.colour && style != PLAIN {
            true => shown.push_str(&format!("{style}{line}{style:#}")),
            false => shown.push_str(&line),
        }
        shown.push('\n');
    }
    shown
}

fn style_of(kind: PatchLineKind) -> Style {
    match kind {
        PatchLineKind::Header => HEADER,
        PatchLineKind::Hunk => HUNK,
        PatchLineKind::Added => ADDED,
        PatchLineKind::Removed => REMOVED,
        PatchLineKind::Plain => PLAIN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n\
                         @@ -1,2 +1 @@\n--- a dash\n kept\n\\ No newline at end of file\n\
                         diff --git a/y b/y\nnew file mode 100755\n";

    fn coloured(patch: &str) -> String {
        let mut screen = OutputScreen::plain();
        screen.colour = true;
        patch_text(screen, patch.as_bytes())
    }

    #[test]
    fn a_patch_without_colours_is_the_same_text() {
        assert_eq!(patch_text(OutputScreen::plain(), PATCH.as_bytes()), PATCH);
    }

    #[test]
    fn the_place_of_a_line_decides_its_colour() {
        let shown = coloured(PATCH);
        let lines: Vec<&str> = shown.lines().collect();
        let styled = |style: Style, line: &str| format!("{style}{line}{style:#}");
        assert_eq!(lines[2], styled(HEADER, "--- a/x"));
        assert_eq!(lines[4], styled(HUNK, "@@ -1,2 +1 @@"));
        assert_eq!(lines[5], styled(REMOVED, "--- a dash"));
        assert_eq!(lines[6..8], [" kept", "\\ No newline at end of file"]);
        assert_eq!(lines[9], styled(HEADER, "new file mode 100755"));
        let added = coloured("@@ -0,0 +1,2 @@\n++++ b\n+c\n+++ d\n");
        let lines: Vec<&str> = added.lines().collect();
        let wanted = [styled(ADDED, "++++ b"), styled(ADDED, "+c"), styled(HEADER, "+++ d")];
        assert_eq!(lines[1..], wanted);
    }

    #[test]
    fn control_characters_are_shown_by_number() {
        let shown = patch_text(OutputScreen::plain(), b"+a\tb\x1b[2J\xff\r\n-\xe2\x80\xae");
        assert_eq!(shown, "+a\tb\\u{1b}[2J\\xff\\u{d}\n-\\u{202e}\n");
    }
}
