//! The headers of answers: they forbid scripts and parts of other pages.

use toolexec_tests::Bench;

use super::exchange::{get, post, send};
use super::scene::ConsoleScene;

#[test]
fn every_answer_has_the_headers_of_a_page() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let id = scene.draft_that_prints("shown").id;
    let port = scene.console.port;
    let front = get(port, "/");
    let asset = |ending: &str| {
        let mut paths = front.body.split('"').filter(|it| it.starts_with("/assets/"));
        paths.find(|path| path.ends_with(ending)).unwrap().to_owned()
    };
    let (script, style) = (asset(".js"), asset(".css"));
    let answers = [
        ("/", get(port, "/")),
        ("request", get(port, &format!("/requests/{id}"))),
        ("batch", get(port, &format!("/batch?ids={id}"))),
        ("standing", get(port, "/standing")),
        ("results", get(port, "/results")),
        ("log", get(port, "/log")),
        ("enrol", get(port, "/enrol")),
        ("script", get(port, &script)),
        ("style", get(port, &style)),
        ("missing", get(port, "/missing")),
        ("ticket", get(port, "/actions/0123456789abcdef")),
        ("post", post(port, "/prepare", "{}")),
        ("not JSON", post(port, "/prepare", "{")),
        ("host", send(port, "GET /", &["Host: attacker.example"], "")),
        ("method", send(port, "PUT /", &[&format!("Host: localhost:{port}")], "")),
    ];
    for (what, answer) in answers {
        for header in [
            "\r\ncontent-security-policy: default-src 'none'; script-src 'self'; style-src 'self';",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "require-trusted-types-for 'script'; trusted-types 'none'",
            "\r\nx-content-type-options: nosniff",
            "\r\nreferrer-policy: no-referrer",
            "\r\ncross-origin-opener-policy: same-origin",
            "\r\ncross-origin-resource-policy: same-origin",
            "\r\npermissions-policy: publickey-credentials-get=(self)",
        ] {
            assert!(answer.head.contains(header), "{what}: no {header}: {answer:?}");
        }
        for leak in ["\r\nserver:", "\r\nset-cookie:", "access-control-", "unsafe-"] {
            assert!(!answer.head.contains(leak), "{what}: {answer:?}");
        }
        let kept = answer.head.contains("immutable");
        assert_eq!(kept, matches!(what, "script" | "style"), "{what}: {answer:?}");
        assert_eq!(!kept, answer.head.contains("\r\ncache-control: no-store"), "{what}");
        // Nothing of a page is loaded from elsewhere.
        let foreign = answer.body.contains("src=\"http") || answer.body.contains("href=\"http");
        assert!(!foreign, "{what}: {answer:?}");
    }
}
