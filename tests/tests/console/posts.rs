//! The posts of the page's script in forms that it never sends: the console refuses each of them,
//! and writes nothing.

use serde_json::json;
use toolexec_tests::{Bench, CliOutput, list};

use super::exchange::{get, post};
use super::scene::ConsoleScene;

#[test]
fn only_drafts_of_this_spool_are_prepared() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let port = scene.console.port;
    let id = scene.draft_that_prints("here").id;
    let many: Vec<String> =
        (0..101).map(|it| scene.draft_that_prints(&it.to_string()).id).collect();
    let (other, missing) = (many[0].as_str(), "TR-20260101-000000Z-none");
    // The passkey of `bob` may approve. Another name would be refused for want of a passkey.
    let approval = |ids: &[&str], by: &str| json!({ "action": "approve", "ids": ids, "by": by });
    let good = post(port, "/prepare", &approval(&[&id, other], "bob").to_string());
    assert_eq!(good.status, 200, "{good:?}");
    let (form, gone, no_name) = ("another form", "not here any more", "`by` is missing");
    for (what, body, reason) in [
        ("nothing", json!({}), form),
        ("a list", json!([]), form),
        ("null", json!(null), form),
        ("no ids", json!({ "action": "reject", "ids": [] }), "Select 1 to 100"),
        ("another draft", json!({ "action": "reject", "ids": [missing] }), gone),
        ("one of two", approval(&[&id, missing], "bob"), gone),
        ("a path", json!({ "action": "reject", "ids": ["../../etc/passwd"] }), "No such request"),
        (
            "a path in an id",
            json!({ "action": "reject", "ids": [format!("../drafts/{id}")] }),
            "No such request",
        ),
        ("a file", json!({ "action": "reject", "ids": [format!("{id}.md")] }), gone),
        ("a number", json!({ "action": "reject", "ids": [7] }), form),
        ("twice", approval(&[&id, &id], "bob"), "is named twice"),
        ("too many", json!({ "action": "approve", "ids": many, "by": "bob" }), "Select 1 to 100"),
        ("two rejections", json!({ "action": "reject", "ids": [id, other] }), "has 2 documents"),
        ("another action", json!({ "action": "run", "ids": [id] }), "No such action"),
        ("no action", json!({ "ids": [id] }), form),
        ("no approver", json!({ "action": "approve", "ids": [id] }), no_name),
        ("an empty approver", approval(&[&id], ""), no_name),
        ("two lines", approval(&[&id], "a\naction: reject"), "more than one line"),
        ("a long approver", approval(&[&id], &"a".repeat(300)), no_name),
        ("a request to revoke", json!({ "action": "revoke", "ids": [id] }), "does not take"),
    ] {
        let answer = post(port, "/prepare", &body.to_string());
        answer.assert_refused(what);
        let error = answer.json()["error"].as_str().unwrap().to_owned();
        assert!(error.contains(reason), "{what}: {reason:?} is not in {error:?}");
        assert!(!answer.body.contains("root:"), "{what}: {answer:?}");
    }
    for body in ["", "{", "nonsense", "{\"action\":\"reject\",\"action\":\"approve\"}"] {
        post(port, "/prepare", body).assert_refused(body);
    }
    let deep = "[".repeat(60_000);
    post(port, "/prepare", &deep).assert_refused("a deep list");
    let good = post(port, "/prepare", &json!({ "action": "reject", "ids": [id] }).to_string());
    assert_eq!(good.status, 200, "{good:?}");
    let prepared = good.json();
    assert_eq!(prepared["namespace"], "reject.tool-exec@threegate");
    assert_eq!(prepared["rp_id"], "localhost");
    let digest = CliOutput::of(
        bench.command("sha256sum").arg(scene.service.path(&format!("drafts/{id}.md"))),
    );
    assert_eq!(prepared["documents"][0]["sha256"].as_str(), Some(&digest.stdout[..64]));
    scene.console.assert_answers();
    scene.assert_nothing_signed();
}

#[test]
fn only_the_form_of_a_signed_action_is_delivered() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let port = scene.console.port;
    let id = scene.draft_that_prints("here").id;
    let body = json!({ "action": "reject", "ids": [id] }).to_string();
    let prepared = post(port, "/prepare", &body).json();
    let header = prepared["header"].as_str().unwrap();
    let armour = |content: &str| {
        format!("-----BEGIN SSH SIGNATURE-----\n{content}\n-----END SSH SIGNATURE-----\n")
    };
    for (what, body) in [
        ("nothing", json!({})),
        ("no signature", json!({ "prepared": header })),
        ("an empty signature", json!({ "prepared": header, "signature": "" })),
        ("no text", json!({ "prepared": header, "signature": 7 })),
        ("no armour", json!({ "prepared": header, "signature": "U1NIU0lH" })),
        ("an empty armour", json!({ "prepared": header, "signature": armour("") })),
        ("no signature in it", json!({ "prepared": header, "signature": armour("AAAA") })),
        ("a magic alone", json!({ "prepared": header, "signature": armour("U1NIU0lHAAAAAQ==") })),
        ("no header", json!({ "prepared": "", "signature": armour("U1NIU0lHAAAAAQ==") })),
        ("large", json!({ "prepared": header, "signature": armour(&"A".repeat(50_000)) })),
        ("nested", json!({ "prepared": header, "signature": [[["x"]]] })),
    ] {
        let answer = post(port, "/actions", &body.to_string());
        answer.assert_refused(what);
        assert_eq!(list(&scene.service.path("signed")), Vec::<String>::new(), "{what}");
    }
    for ticket in ["0123456789abcdef", "x", "a.b", ".answer", &"a".repeat(300)] {
        get(port, &format!("/actions/{ticket}")).assert_refused(ticket);
    }
    scene.console.assert_answers();
    scene.assert_nothing_signed();
}
