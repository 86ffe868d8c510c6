//! A request's page must never show another request than its source, in a forge or an editor.

use crate::support;

use support::{command, errors, warnings, with};

const TITLE: &str = "# Statistics of one table";
const NONE: [&str; 0] = [];

fn prose(text: &str) -> String {
    with(TITLE, &format!("{TITLE}\n\n{text}"))
}

#[test]
fn html_outside_of_code_is_refused() {
    for text in [
        "<details hidden>\n\n# Kommando\n\npython other.py\n\n</details>",
        "<details hidden>",
        "text <span hidden>that nobody sees</span>",
        "a <b>bold</b> word",
        "<!-- a comment -->",
        "words <!-- hidden --> words",
        "<style>p { display: none }</style>",
        "> <div hidden>",
        "- item\n  <p hidden>x</p>",
        "<?php x ?>",
        "<!DOCTYPE html>",
        "<![CDATA[ x ]]>",
    ] {
        assert_eq!(errors(prose(text)), ["section.hidden"], "{text}");
    }
    for text in [
        "x < 3 and y > 4",
        "`<details hidden>`",
        "```\n<details hidden>\n```",
        "    <details hidden>",
        "\\<details hidden>",
        "<https://example.org>",
        "a <3",
    ] {
        assert_eq!(errors(prose(text)), NONE, "{text}");
        assert_eq!(warnings(prose(text)), NONE, "{text}");
    }
}

#[test]
fn headings_with_a_sections_title_are_refused() {
    for text in [
        "# Command",
        "### Command",
        "###### command ######",
        "   # Command",
        "#\tCommand",
        "# **Command**",
        "# _Risk_ `Assessment`",
        "# Comm&#97;nd",
        "# [Command](#x)",
        "# Command:",
        "# 1. Command",
        "# Input  Files",
        "# C\\ommand",
        "# \u{421}ommand",
        "Command\n===",
        "*Command*\n=====",
        "> # Command",
        "- # Command",
        "1. ### Output Expectations",
        "# Code",
        "> Command\n> ===",
    ] {
        let text = prose(&format!("{text}\n\npython other.py"));
        assert_eq!(errors(&text), ["section.duplicate"], "{text}");
    }
    for text in [
        "# Statistics",
        "### Commands of the tool",
        "The command",
        "`# Command`",
        "```\n# Command\n```",
        "    # Command",
        "Command\n\n===",
        "\\# Command",
        "#Command",
    ] {
        assert_eq!(errors(prose(text)), NONE, "{text}");
    }
    let inside = with("* `Risk level: low`", "### Command\n\n* `Risk level: low`");
    assert_eq!(errors(inside), ["section.duplicate"]);
    // A reader without front matter support shows its comments as headings.
    let comment = with("language: \"python\"", "language: \"python\"\n# Command\n");
    assert_eq!(errors(comment), ["section.duplicate"]);
}

#[test]
fn command_words_that_a_page_replaces_are_reported() {
    for word in ["'<!--' --all '-->'", "'&lt;'", "'&#105;'", "'[a](b)'", "'![a](b)'", "'<b>'"] {
        let text = command(&format!("python script.py /in/input.csv {word}"));
        assert_eq!(errors(&text), NONE, "{word}");
        assert_eq!(warnings(&text), ["command.markup"], "{word}");
    }
    for word in ["'<details hidden>'", "'<b hidden>'", "'<script>'", "'</div>'"] {
        let text = command(&format!("python script.py /in/input.csv {word}"));
        assert_eq!(errors(&text), ["command.markup"], "{word}");
    }
    for word in ["'a < b'", "'a&b'", "'[a]'", "'a & b;'", "'x[1] (y)'", "'&nosuchname;'"] {
        let text = command(&format!("python script.py /in/input.csv {word}"));
        assert_eq!(errors(&text), NONE, "{word}");
        assert_eq!(warnings(&text), NONE, "{word}");
    }
    // A link with its address elsewhere hides its label.
    let text = command("python script.py /in/input.csv '[a][b]'");
    let text = text.replace(TITLE, &format!("{TITLE}\n\n[b]: /in/input.csv"));
    assert_eq!(warnings(text), ["command.markup"]);
}
