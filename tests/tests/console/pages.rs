//! The pages in a browser: they log no error, fit a phone, pass the rules of axe, and show the
//! markup of drafters and tools as text.

use std::fs;
use std::path::PathBuf;

use serde_json::json;
use toolexec_tests::{Bench, RequestText, skip, workspace};

use super::approver::ApproverPage;
use super::exchange::get;
use super::scene::ConsoleScene;

/// Writes a picture, a table, a page with a script, and markup to both streams.
const TOOL: &str = r#"
import struct, sys, zlib
def part(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
rows = b"".join(b"\0" + bytes([40, 90, 160]) * 64 for _ in range(64))
picture = b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0))
picture += part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")
open("/out/chart.png", "wb").write(picture)
open("/out/table.csv", "w").write("year,price\n2025,1\n")
open("/out/page.html", "w").write("<script>document.title='ran'</script>")
text = "</pre><script>document.title='ran'</script><img src=/ran onerror=document.title='ran'>"
text += "\n\u202egnp.exe \x1b[31m" + "long" * 200 + "\n"
for stream in (sys.stdout, sys.stderr):
    stream.buffer.write(text.encode())
"#;
const SCRIPT: &str = "import sys; print(sys.argv[1])";

/// A scene with a draft, a result and a standing approval, and the path of each page.
fn pages(scene: &ConsoleScene<'_>, approver: &ApproverPage<'_>) -> Vec<(&'static str, String)> {
    let standing = scene.admit_standing(SCRIPT);
    let request =
        RequestText::python(TOOL).output("chart.png").output("table.csv").output("page.html");
    let ran = scene.draft(request).id;
    approver.open(&format!("/requests/{ran}"));
    approver.perform("approve");
    let result = scene.service.record_of(&ran);
    result.assert_outcome("ok");
    let hostile = "Show <script>document.title='ran'</script> & \\\"the\\\" <img src=/ran> column.";
    let draft = RequestText::python("print('a chart')")
        .input(&format!("{}.csv", "long-name-of-data-".repeat(4)), "year,price\n2025,1\n")
        .edit("purpose: \"A test.\"", &format!("purpose: \"{hostile}\""));
    let draft = scene.draft(draft).id;
    let other = scene.draft_that_prints("another draft").id;
    vec![
        ("queue", "/".to_owned()),
        ("request", format!("/requests/{draft}")),
        ("ran", format!("/requests/{ran}")),
        ("batch", format!("/batch?ids={draft}&ids={other}")),
        ("standing", "/standing".to_owned()),
        ("standing-approval", format!("/standing/{}", standing.id)),
        ("results", "/results".to_owned()),
        ("result", format!("/results/{}", result.id())),
        ("log", "/log".to_owned()),
        ("enrol", "/enrol".to_owned()),
    ]
}

#[test]
fn every_page_fits_a_phone_and_logs_no_error() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "every_page_fits_a_phone_and_logs_no_error";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let pages = pages(&scene, &page);
    for (width, height) in [(390, 844), (1280, 900)] {
        page.browser.resize(width, height);
        for (_, path) in &pages {
            page.open(path);
            let wide = page.script("document.documentElement.scrollWidth");
            assert!(wide.as_u64().unwrap() <= u64::from(width), "{path} is {wide} wide of {width}");
            assert_eq!(page.script("document.querySelectorAll('h1').length"), 1, "{path}");
        }
        // The dialog with the text to sign.
        page.open(&pages[1].1);
        page.begin("approve");
        let wide = page.script("document.getElementById('confirm').getBoundingClientRect().right");
        assert!(wide.as_f64().unwrap() <= f64::from(width), "the dialog is {wide} wide");
        page.click("#confirm-no");
    }
    assert_eq!(page.browser.errors(), Vec::<String>::new());
}

fn axe() -> Option<PathBuf> {
    let modules = std::env::var_os("TOOLEXEC_NODE_MODULES").map(PathBuf::from);
    let modules =
        modules.unwrap_or_else(|| workspace().join("target/tools/oracles-node/node_modules"));
    Some(modules.join("axe-core/axe.min.js")).filter(|file| file.is_file())
}

#[test]
fn every_page_passes_the_rules_of_axe() {
    let test = "every_page_passes_the_rules_of_axe";
    let Some(axe) = axe() else {
        return skip(test, "axe-core is not installed (tests/prepare oracles)");
    };
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let axe = fs::read_to_string(axe).unwrap();
    let check = || {
        page.script(&axe);
        let found = page.script(
            "axe.run(document).then((it) => it.violations.map((rule) => rule.id + ': ' + rule.help
             + ': ' + rule.nodes.map((node) => node.html + ' ' + node.failureSummary).join('; ')))",
        );
        let found = found.as_array().unwrap().clone();
        assert!(found.is_empty(), "{}: {found:#?}", page.script("location.href"));
    };
    let pages = pages(&scene, &page);
    for colours in ["light", "dark"] {
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": colours }] });
        page.browser.call("Emulation.setEmulatedMedia", media);
        for (_, path) in &pages {
            page.open(path);
            check();
        }
        page.open(&pages[1].1);
        page.begin("approve");
        check();
    }
}

#[test]
fn markup_of_drafters_and_tools_is_text() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "markup_of_drafters_and_tools_is_text";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    for (name, path) in pages(&scene, &page) {
        page.open(&path);
        let title = page.script("document.title");
        assert_ne!(title, "ran", "{path}");
        let inside = "document.querySelectorAll('main script, main [onerror], main img').length";
        assert_eq!(page.script(inside), 0, "{path}");
        let text = page.script("document.querySelector('main').textContent");
        let text = text.as_str().unwrap();
        assert!(!text.contains('\u{202e}') && !text.contains('\x1b'), "{path}: {text}");
        let markup = match name {
            "request" | "batch" => "Show <script>document.title='ran'</script> & ",
            "result" => "</pre><script>document.title='ran'</script><img src=/ran onerror=",
            _ => continue,
        };
        assert!(text.contains(markup), "{path}: {text}");
    }
    // Nothing has requested the address in the markup.
    let loads = page.browser.events("Log.entryAdded");
    assert!(loads.iter().all(|it| !it.to_string().contains("/ran")), "{loads:#?}");

    let result = scene.service.visible_results().remove(0);
    let shown = get(scene.console.port, &format!("/results/{result}")).body;
    assert!(shown.contains("<span class=\"state good\">verified</span>"), "{shown}");
    let file = get(scene.console.port, &format!("/results/{result}/files/artifacts/page.html"));
    assert_eq!(file.body, "<script>document.title='ran'</script>", "{file:?}");
    for header in [
        "\r\ncontent-type: application/octet-stream\r\n",
        "\r\ncontent-disposition: attachment",
        "\r\nx-content-type-options: nosniff\r\n",
    ] {
        assert!(file.head.contains(header), "{header} is not in {file:?}");
    }
}

#[test]
fn a_page_can_be_read_without_a_script() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let request = RequestText::python("print('the text of an input')");
    let id = scene.draft(request).id;
    let page = get(scene.console.port, &format!("/requests/{id}")).body;
    let marked = format!("class=\"document-digest\" data-document=\"{id}\">");
    let digest = page.split(&marked).nth(1).unwrap();
    assert_eq!(digest.split('<').next().unwrap().len(), 64, "{digest}");
    for words in ["script.py", "the text of an input", "256", "A test.", "it is a test"] {
        assert!(page.contains(words), "{words} is not in {page}");
    }
}
