//! Each page with the content of an ordinary day. `WRITE_PICTURES=1` writes the pictures of
//! docs/console.md anew: `docs/pictures/console-<page>-<width>.png`.

use std::time::Duration;

use toolexec_tests::{Bench, RequestText, workspace};

use super::approver::ApproverPage;
use super::scene::ConsoleScene;

/// The sizes of a phone and of a screen, in CSS pixels.
const SIZES: [(u32, u32); 2] = [(390, 844), (1280, 900)];
const PICTURE_HEIGHT_MAX: u64 = 2400;
/// `TR-`, the date and the time.
const STAMP_LEN: usize = 19;
const SCRIPT: &str = "import sys; print(sys.argv[1])";

/// Prints monthly means, draws them, and proposes a change of a program.
const MEANS: &str = r#"
import struct, zlib
means = {"January": 412, "February": 388, "March": 451, "April": 497, "May": 520, "June": 476}
for month, mean in means.items():
    print(f"{month:<10}{mean:>6} EUR")
def part(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
heights, rows = list(means.values()), bytearray()
for y in range(160):
    rows.append(0)
    rows += bytes(x % 60 > 12 and (160 - y) * 4 < heights[x // 60] for x in range(360))
picture = part(b"IHDR", struct.pack(">IIBBBBB", 360, 160, 8, 3, 0, 0, 0))
picture += part(b"PLTE", bytes([255, 255, 255, 40, 90, 160]))
picture += part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")
open("/out/means.png", "wb").write(b"\x89PNG\r\n\x1a\n" + picture)
open("/out/rounding.patch", "w").write("""--- a/report.py
+++ b/report.py
@@ -1,4 +1,4 @@
 def line(month, mean):
-    return f"{month} {mean}"
+    return f"{month:<10}{mean:>8.2f} EUR"
 
 if __name__ == "__main__":
""")
"#;

fn request(script: &str, name: &str, purpose: &str) -> RequestText {
    let mut request = RequestText::python(script)
        .input("sales.csv", "month,amount\n2026-01,412\n2026-02,388\n")
        .edit("purpose: \"A test.\"", &format!("purpose: \"{purpose}\""))
        .edit("Justification: it is a test.", "Justification: it reads one table.");
    request.id.truncate(STAMP_LEN);
    request.id.push_str(name);
    request
}

/// Returns the name and the path of each page. The second one is that of a draft.
fn pages(scene: &ConsoleScene<'_>, approver: &ApproverPage<'_>) -> Vec<(&'static str, String)> {
    let standing = scene.admit_standing(SCRIPT);
    scene.run_use(&standing.use_of(SCRIPT, "7")).assert_outcome("ok");
    let purpose = "Monthly means of the sales table, with a chart.";
    let ran = request(MEANS, "-means", purpose).output("means.png").output("rounding.patch");
    let ran = scene.draft(ran).id;
    approver.open(&format!("/requests/{ran}"));
    approver.perform("approve");
    let result = scene.service.record_of(&ran);
    result.assert_outcome("ok");
    let rows = "print(len(open('/in/sales.csv').readlines()))";
    let rows = scene.draft(request(rows, "-rows", "Counts rows.")).id;
    let draft = request("print('2026-03')", "-next-month", "Prints the next month to report.");
    let draft = scene.draft(draft).id;
    vec![
        ("queue", "/".to_owned()),
        ("request", format!("/requests/{draft}")),
        ("batch", format!("/batch?ids={rows}&ids={draft}")),
        ("standing", "/standing".to_owned()),
        ("standing-approval", format!("/standing/{}", standing.id)),
        ("results", "/results".to_owned()),
        ("result", format!("/results/{}", result.id())),
        ("log", "/log".to_owned()),
        ("enrol", "/enrol".to_owned()),
    ]
}

/// Writes a picture of the part of the page that is on the screen.
fn write_screen(page: &ApproverPage<'_>, name: &str, width: u32) {
    let file = format!("docs/pictures/console-{name}-{width}.png");
    page.browser.screenshot(&workspace().join(file));
}

/// Writes a picture of the whole page, if pictures are wanted. README.md has the top of a request.
fn write_picture(page: &ApproverPage<'_>, name: &str, (width, height): (u32, u32)) {
    if std::env::var_os("WRITE_PICTURES").is_none() {
        return;
    }
    if (name, width) == ("request", SIZES[1].0) {
        write_screen(page, "request-top", width);
    }
    let whole = page.script("document.documentElement.scrollHeight").as_u64().unwrap();
    let whole = u32::try_from(whole.min(PICTURE_HEIGHT_MAX)).unwrap();
    page.browser.resize(width, height.max(whole));
    // Frames are loaded once they are in view.
    std::thread::sleep(Duration::from_millis(500));
    write_screen(page, name, width);
    page.browser.resize(width, height);
}

#[test]
fn every_page_shows_an_ordinary_day() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let Some(page) = ApproverPage::enrolled(&scene, "every_page_shows_an_ordinary_day") else {
        return;
    };
    let pages = pages(&scene, &page);
    for size in SIZES {
        page.browser.resize(size.0, size.1);
        for (name, path) in &pages {
            page.open(path);
            write_picture(&page, name, size);
            let shown = |selector: &str| {
                page.script(&format!("document.querySelectorAll('{selector}').length"))
            };
            match *name {
                "queue" => assert!(shown("input[name=ids]").as_u64() >= Some(2), "drafts"),
                "batch" => assert_eq!(shown("details.draft[open]"), 2, "drafts"),
                "result" => {
                    assert_eq!(shown("iframe.picture"), 1, "pictures");
                    assert_eq!([shown("pre .added"), shown("pre .removed")], [1, 1], "a patch");
                }
                "standing-approval" => assert_eq!(shown("#uses"), 1, "uses"),
                _ => {}
            }
        }
        page.open(&pages[1].1);
        page.begin("approve");
        write_picture(&page, "sign", size);
        page.click("#confirm-no");
    }
    assert_eq!(page.browser.errors(), Vec::<String>::new());
}
