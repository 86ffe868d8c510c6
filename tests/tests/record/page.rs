//! `toolexec show --html`: the page of a record full of markup runs and loads nothing and shows the
//! markup as text, by two parsers and a browser if installed. Page and `verify` agree.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use toolexec_tests::{
    Bench, CliOutput, Record, RequestText, Service, ServiceConfig, chromium, skip, workspace,
};

/// The tool of the hostile record. `PORT` is a listener that the page must not contact.
const HOSTILE: &str = r##"
import os, sys
marks = [
    "<script>document.title='ran'</script>", "</pre></section></main><h1>injected</h1>",
    "<img src=http://127.0.0.1:PORT/img onerror=\"document.title='ran'\">",
    "</style><link rel=stylesheet href=http://127.0.0.1:PORT/css>", "<svg onload=document.title='ran'>",
    "<iframe srcdoc='<script>parent.document.title=1</script>'></iframe>", "]]>", "<!-- ", "<![CDATA[",
    "&lt;b&gt; &amp; &#60;script&#62; &quot;", "\u202egnp.exe", "a\u200bb\u2066c", "<meta http-equiv=refresh content='0;url=http://127.0.0.1:PORT/meta'>",
    "\x1b]0;pwned\x07\x1b[31m\x00\r\ufeff\ufffe\uffff\x85", "<base href=http://127.0.0.1:PORT/>", "javascript:alert(1)",
]
for stream in (sys.stdout, sys.stderr):
    stream.buffer.write("\n".join(marks).encode() + b"\n\xff\xfe\xc0\x80\n")
for name in ["<img src=x onerror=document.title='ran'>", "a\"><script>document.title='ran'<", "b&amp;'c]]>"]:
    open("/out/" + name.replace("/", ""), "w").write("x")
os.symlink("/etc/passwd", "/out/<b>link")
"##;

const PURPOSE: &str =
    "Mean <script>document.title='ran'</script> ]]> & &lt;b&gt; of \\\"one\\\" 'column'.";

fn hostile_record(bench: &Bench, port: u16) -> Record {
    let request = RequestText::python(&HOSTILE.replace("PORT", &port.to_string()))
        .output("table.csv")
        .edit("purpose: \"A test.\"", &format!("purpose: \"{PURPOSE}\""))
        .edit("# A test\n", "# A test ]]> &amp;\n");
    bench.run_recorded(&request).1
}

fn show(bench: &Bench, words: &[&str]) -> CliOutput {
    bench.toolexec(["show"].iter().chain(words))
}

/// Returns the page of a record, from stdout.
#[track_caller]
fn page_of(bench: &Bench, record: &Path, code: i32) -> String {
    let output = show(bench, &[record.to_str().unwrap(), "--html"]);
    output.assert_code(code);
    output.stdout
}

/// Lists all elements with attributes by a strict XML parser and Python's HTML parser: both agree.
const PARSERS: &str = r#"
import html.parser, json, sys, xml.etree.ElementTree as tree
text = open(sys.argv[1], encoding="utf-8", newline="").read()
seen = []
class Html(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        seen.append([tag, [[name, value] for name, value in attributes if name != "xmlns"]])
    def handle_comment(self, data): raise ValueError("a comment")
    def unknown_decl(self, data): raise ValueError("a declaration")
    def handle_pi(self, data): raise ValueError("an instruction")
parser = Html(convert_charrefs=True)
parser.feed(text); parser.close()
lower = lambda name: name.split("}")[-1].lower()
root = tree.fromstring(text)
elements = [[lower(it.tag), [[lower(k), v] for k, v in it.attrib.items()]] for it in root.iter()]
if elements != seen: raise ValueError("two parsers see two pages")
print(json.dumps({"elements": elements, "text": "".join(root.itertext())}))
"#;

#[track_caller]
fn parsed(bench: &Bench, page: &str) -> Value {
    let (script, file) = (bench.home().join("parsers.py"), bench.home().join("parsed.html"));
    fs::write(&script, PARSERS).unwrap();
    fs::write(&file, page).unwrap();
    let output = CliOutput::of(bench.command("/usr/bin/python3").arg(script).arg(file));
    output.assert_code(0);
    output.json()
}

const ELEMENTS: [&str; 37] = [
    "html", "head", "meta", "title", "style", "body", "main", "header", "section", "footer", "h1",
    "h2", "h3", "p", "span", "code", "small", "ul", "li", "svg", "rect", "dl", "div", "dt", "dd",
    "table", "caption", "thead", "tbody", "tr", "th", "td", "pre", "details", "summary", "b", "i",
];
const ATTRIBUTES: [&str; 17] = [
    "lang",
    "charset",
    "http-equiv",
    "content",
    "name",
    "class",
    "scope",
    "data-label",
    "tabindex",
    "viewbox",
    "preserveaspectratio",
    "aria-hidden",
    "focusable",
    "width",
    "height",
    "xmlns",
    "id",
];

/// Asserts that a page contains only known elements, and none that could load or run anything.
#[track_caller]
fn assert_known_elements(parsed: &Value) {
    let elements = parsed["elements"].as_array().unwrap();
    for element in elements {
        let name = element[0].as_str().unwrap();
        assert!(ELEMENTS.contains(&name), "<{name}>");
        for attribute in element[1].as_array().unwrap() {
            let attribute = attribute[0].as_str().unwrap();
            assert!(ATTRIBUTES.contains(&attribute), "<{name} {attribute}>");
        }
    }
    let count = |name: &str| elements.iter().filter(|it| it[0] == name).count();
    assert_eq!(["title", "style", "h1", "main", "svg"].map(count), [1, 1, 1, 1, count("svg")]);
    // Each column has a header, and each `td` repeats its name for narrow screens.
    let of = |name: &'static str| elements.iter().filter(move |it| it[0] == name);
    let has = |element: &Value, wanted: &str| {
        element[1].as_array().unwrap().iter().any(|attribute| attribute[0] == wanted)
    };
    assert!(of("th").all(|it| has(it, "scope")));
    assert!(of("td").all(|it| has(it, "data-label")));
    assert_eq!(count("table"), count("caption"));
    assert!(of("html").all(|it| has(it, "lang")));
}

#[test]
fn a_record_full_of_markup_is_text_to_every_parser() {
    let bench = Bench::new();
    let record = hostile_record(&bench, 1);
    let page = page_of(&bench, &record.path, 0);
    let parsed = parsed(&bench, &page);
    assert_known_elements(&parsed);
    let text = parsed["text"].as_str().unwrap();
    // The markup is there as text, in the purpose, in names and in both streams.
    for words in [
        "Mean <script>document.title='ran'</script> ]]> & &lt;b&gt; of \"one\" 'column'.",
        "<img src=x onerror=document.title='ran'>",
        "a\"><script>document.title='ran'<",
        "</style><link rel=stylesheet",
        "&lt;b&gt; &amp; &#60;script&#62; &quot;",
        "\\u{202e}gnp.exe",
        "a\\u{200b}b\\u{2066}c",
        "\\u{1b}]0;pwned\\u{7}\\u{1b}[31m\\u{0}\\u{d}\\u{feff}\\u{fffe}\\u{ffff}\\u{85}",
        "<b>link",
        "untrusted",
    ] {
        assert!(text.contains(words), "{words:?} is not in the page:\n{text}");
    }
    assert_eq!(text.matches("<iframe srcdoc=").count(), 2, "once for each stream");
    for c in page.chars() {
        let invisible = matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
        assert!(!invisible && (!c.is_control() || c == '\n'), "{c:?} is in the page");
    }
}

/// Opens a file in the browser, and returns its output and its errors.
fn open_in_browser(bench: &Bench, browser: &Path, page: &Path, more: &[&str]) -> CliOutput {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::SeqCst);
    let profile = bench.scratch().dir(&format!("profile-{number}"));
    let mut command = Command::new("timeout");
    command.arg("60").arg(browser);
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        "--enable-logging=stderr",
        "--virtual-time-budget=3000",
    ]);
    command.arg(format!("--user-data-dir={}", profile.display())).args(more);
    command.arg(format!("file://{}", page.display())).env("HOME", bench.home());
    let output = CliOutput::of(&mut command);
    output.assert_code(0);
    output
}

/// A server that a page might contact. Answers 404 and counts.
struct CallCounter {
    port: u16,
    count: Arc<AtomicUsize>,
}

impl CallCounter {
    fn listen() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        // The thread ends with this process.
        std::thread::spawn(move || {
            for caller in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                let nothing =
                    "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                let heard = BufReader::new(&caller).read_line(&mut String::new());
                let answered = heard.and_then(|_| (&caller).write_all(nothing.as_bytes()));
                // A client that disconnects early counts too.
                answered.unwrap_or_default();
            }
        });
        Self { port, count }
    }

    fn times(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }
}

#[test]
fn a_record_full_of_markup_runs_nothing_and_connects_to_no_host_in_a_browser() {
    let test = "a_record_full_of_markup_runs_nothing_and_connects_to_no_host_in_a_browser";
    let Some(browser) = chromium() else {
        return skip(test, "chromium is not installed (apt-get install chromium)");
    };
    let bench = Bench::new();
    let called = CallCounter::listen();
    let record = hostile_record(&bench, called.port);
    let page = page_of(&bench, &record.path, 0);
    let file = bench.scratch().file("page.html", &page);

    // A control: the same words as markup, without the page's policy, must be noticed.
    let head = page.find("<meta http-equiv").unwrap();
    let rest = page[head..].find("/>").unwrap() + head + 2;
    let bare = page[..head].to_owned() + &page[rest..];
    let bare = bare.replace("&lt;", "<").replace("&gt;", ">").replace("&#39;", "'");
    // Except the refresh, which would leave the page before it can be read.
    let bare = bare.replace("&quot;", "\"").replace("http-equiv=refresh", "name=refresh");
    let bare = bench.scratch().file("bare.html", bare);
    let output = open_in_browser(&bench, &browser, &bare, &["--dump-dom"]);
    assert!(
        output.stdout.contains("<title>ran"),
        "no script ran in the control: {}",
        output.stderr
    );
    let before = called.times();
    assert!(before > 0, "nobody called in the control");

    let output = open_in_browser(&bench, &browser, &file, &["--dump-dom"]);
    let title = format!("<title>ok · {}</title>", record.front_matter_value("request_id"));
    let title = title.replace("ok", record.outcome());
    assert!(output.stdout.contains(&title), "another title: {}", output.stdout);
    for element in ["<script", "<img", "<iframe", "<link", "<base", "<meta http-equiv=\"refresh"] {
        assert!(!output.stdout.contains(element), "{element} is in the document");
    }
    assert_eq!(output.stdout.matches("<h1").count(), 1);
    assert_eq!(called.times(), before, "the page called somebody");
    // The browser applies the style, because the policy contains its digest.
    assert!(!output.stderr.contains("Content Security Policy"), "{}", output.stderr);
    let other = page.replacen("<style>", "<style> ", 1);
    let other = bench.scratch().file("other-style.html", other);
    let complained = open_in_browser(&bench, &browser, &other, &["--dump-dom"]).stderr;
    assert!(complained.contains("Content Security Policy"), "no complaint in the control");

    let shot = bench.scratch().path().join("shot.png");
    let to = format!("--screenshot={}", shot.display());
    open_in_browser(&bench, &browser, &file, &[&to, "--window-size=900,1400"]);
    let picture = fs::read(&shot).unwrap();
    assert!(picture.starts_with(b"\x89PNG") && picture.len() > 20_000, "{}", picture.len());
}

#[test]
fn page_and_verify_agree() {
    let bench = Bench::new();
    let script = "open('/out/a.txt','w').write('x' * 5000); print('hello')";
    let (_, record) = bench.run_recorded(&RequestText::python(script).output("a.txt"));
    let page = page_of(&bench, &record.path, 0);
    let verified = bench.toolexec(["verify", record.path.to_str().unwrap(), "--format", "json"]);
    let verified = verified.json();
    let text = parsed(&bench, &page)["text"].as_str().unwrap().to_owned();
    let files = format!("{} files re-hashed", verified["files"]);
    for words in [
        "Verified",
        verified["signer"].as_str().unwrap(),
        &files,
        "entry 0 of 1 in the log",
        "Not checked: that the log only grew",
        "hello",
        "a.txt",
        "4.8 KiB",
        record.front_matter_value("stdout_sha256"),
        "unsigned, by the invoker",
        "wall_ms_max",
        "of 256 MiB",
        "limits.memory",
        "none in any set",
        "None was granted",
        "6 B kept of 6 B",
    ] {
        // Digests of the streams are in no table; the page compares them itself.
        let digest = words == record.front_matter_value("stdout_sha256");
        assert!(digest || text.contains(words), "{words:?} is not in {text}");
    }
    assert!(!text.contains("NOT VERIFIED") && !text.contains("do not match"));

    // With other trusted keys, untrusted parts are not shown as verified.
    let signers = bench
        .scratch()
        .file("signers", fs::read(bench.state().join("keys/allowed_signers")).unwrap());
    let path = record.path.to_str().unwrap();
    let words = [path, "--html", "-", "--result-keys", signers.to_str().unwrap()];
    let output = show(&bench, &words);
    output.assert_code(0);
    assert!(output.stdout.contains("<h2>Verified</h2>") && !output.stdout.contains("in the log"));
    let elsewhere = bench.scratch().dir("elsewhere");
    fs::create_dir(elsewhere.join("keys")).unwrap();
    let output = show(&bench, &[path, "--html", "-", "--state", elsewhere.to_str().unwrap()]);
    output.assert_code(0);
    assert!(output.stdout.contains("<h2>Not verified</h2>"), "{}", output.stdout);
    let output = show(&bench, &[path, "--html", "-", "--result-keys", "/nowhere"]);
    output.assert_code(3);

    // One byte of the output changed later.
    fs::write(record.path.join("stdout"), "hullo\n").unwrap();
    let page = page_of(&bench, &record.path, 1);
    assert_known_elements(&parsed(&bench, &page));
    assert!(page.contains("<h2>NOT VERIFIED</h2>"));
    assert!(page.contains("These bytes do not match the digest in the record"));
    assert!(!page.contains("<h2>Verified"));
}

#[test]
fn no_link_of_a_record_is_followed() {
    let bench = Bench::new();
    let (_, record) = bench.run_recorded(&RequestText::python("print('hello')"));
    let secret = bench.scratch().file("secret", "the secret of somebody else\n");
    fs::remove_file(record.path.join("stdout")).unwrap();
    symlink(&secret, record.path.join("stdout")).unwrap();
    let page = page_of(&bench, &record.path, 1);
    assert!(!page.contains("somebody else") && page.contains("Cannot be read"), "{page}");
    // A path that leads out of the record is not followed either.
    let md = record.path.join(format!("{}.md", record.id()));
    let text = fs::read_to_string(&md).unwrap();
    let named = text.lines().find(|line| line.contains("path: \"request/")).unwrap().to_owned();
    let text = text.replace(&named, "  - path: \"request/../../../../secret\"");
    fs::write(&md, text).unwrap();
    let page = page_of(&bench, &record.path, 1);
    assert!(!page.contains("somebody else"));
}

#[test]
fn records_without_a_run_have_a_page_too() {
    let bench = Bench::new();
    let refused =
        RequestText::python("print(1)").edit("memory_limit_mb: 256", "memory_limit_mb: 999999");
    let output = bench.run(&bench.save(&refused));
    output.assert_code(2);
    let record = Record::of(&output);
    let page = page_of(&bench, &record.path, 0);
    let parsed_page = parsed(&bench, &page);
    assert_known_elements(&parsed_page);
    let text = parsed_page["text"].as_str().unwrap();
    for words in ["refused", "Nothing ran.", "No sandbox was built", "limits.memory"] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
    // An unsigned file that is barely a record: its page is safe, or there is none.
    let id = "TS-20260209-161030Z-TR-20260209-160501Z-python-stats";
    let odd = bench.scratch().dir(id);
    for front in [
        "outcome: \"<script>\"\nlimits: [1, {name: \"<b>\", asked: {a: 1}}]\nartifacts: 7\n\
         rules: [null, {rule: [\"<i>\"]}]\naccounting: {wall_us: unknown}\nstreams: []\nfiles: [[]]",
        "outcome: ok\nnetwork_used: allowlist\nnetwork: unknown\nnetwork_destinations: [\"<a>\"]\n\
         denials: unknown\nconfinement: {landlock: 1}\ngate: unknown\nais: {\"<k>\": {a: \"<v>\"}}",
        "request_id: \"</title><script>\"\nargv: [\"<x>\", 1]\nexit_code: \"<y>\"",
    ] {
        fs::write(odd.join(format!("{id}.md")), format!("---\n{front}\n---\n")).unwrap();
        let output = show(&bench, &[odd.to_str().unwrap(), "--html"]);
        output.assert_code(1);
        output.assert_stderr(&[id, "does not verify", "help: "]);
        assert_known_elements(&parsed(&bench, &output.stdout));
    }
    fs::write(odd.join(format!("{id}.md")), "---\n- 1\n---\n").unwrap();
    show(&bench, &[odd.to_str().unwrap(), "--html"]).assert_code(3);
}

#[test]
fn a_page_is_written_to_its_path_and_replaces_nothing() {
    let bench = Bench::new();
    let service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let request = service.submit(&RequestText::python("print('hello')"));
    let place = service.spool();
    let spool = ["--spool", place.to_str().unwrap()];
    let id = request.id.as_str();
    bench.toolexec(["wait", id, "--timeout", "40"].iter().chain(&spool)).assert_code(0);
    let to = bench.home().join("page.html");
    // The keys of a daemon are beside its ledger. Its spool is the one that contains the record.
    let record = fs::read_dir(service.path("results")).unwrap().next().unwrap().unwrap().path();
    let (record, state) = (record.to_str().unwrap(), service.state());
    let words = [record, "--html", to.to_str().unwrap(), "--state", state.to_str().unwrap()];
    let output = show(&bench, &words);
    output.assert_code(0);
    assert_eq!(output.stdout, "");
    let page = fs::read_to_string(&to).unwrap();
    assert!(page.contains("<h2>Verified</h2>") && page.ends_with("</html>\n"));
    let again = show(&bench, &words);
    again.assert_code(3);
    again.assert_stderr(&["already exists", "page.html"]);
    assert_eq!(fs::read_to_string(&to).unwrap(), page);
    // By request id, to stdout.
    let output = show(&bench, &[id, "--html", "--spool", spool[1]]);
    assert!(output.stdout.starts_with("<!DOCTYPE html>\n"), "{output:#?}");
    show(&bench, &[id, "--html", "--format", "json"]).assert_code(3);
    let output = show(&bench, &["TR-20260101-000000Z-nobody", "--html", "--spool", spool[1]]);
    output.assert_code(2);
}

/// WCAG 2.1, 1.4.3: contrast of text to its background, in light and dark mode.
#[test]
fn every_colour_of_text_has_contrast() {
    let style = fs::read_to_string(workspace().join("cli/src/output/page/style.css")).unwrap();
    let mut checked = 0;
    for block in style.split(":root {").skip(1).take(2) {
        let colour = |name: &str| {
            let at = block.find(&format!("--{name}: #")).unwrap_or_else(|| panic!("no --{name}"));
            let digits = &block[at + name.len() + 5..][..6];
            let part = |from: usize| {
                let value =
                    f64::from(u8::from_str_radix(&digits[from..from + 2], 16).unwrap()) / 255.0;
                if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4)
        };
        for (text, behind) in [
            ("ink", "paper"),
            ("ink", "card"),
            ("muted", "paper"),
            ("muted", "card"),
            ("used", "card"),
            ("good", "good-wash"),
            ("bad", "bad-wash"),
            ("care", "care-wash"),
            ("muted", "good-wash"),
            ("muted", "bad-wash"),
            ("muted", "care-wash"),
            ("muted", "plain-wash"),
        ] {
            let (one, other) = (colour(text), colour(behind));
            let contrast = (one.max(other) + 0.05) / (one.min(other) + 0.05);
            assert!(contrast >= 4.5, "{text} on {behind}: {contrast:.2}");
            checked += 1;
        }
    }
    assert_eq!(checked, 24);
}
