//! An attacker who owns the console's process writes into `signed/` as it does, and serves any page
//! and script. Without a touch nothing runs, and one touch counts for one text.

use std::fs;

use serde_json::json;
use toolexec_tests::{Bench, CliOutput, RequestText, list};

use super::approver::ApproverPage;
use super::exchange::post;
use super::scene::ConsoleScene;

/// Returns the line of a header that names a document.
fn document_line<'h>(header: &'h str, id: &str) -> &'h str {
    header.lines().find(|line| line.ends_with(&format!(" {id}"))).unwrap()
}

#[test]
fn without_a_touch_nothing_counts() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let Some(page) = ApproverPage::start(&scene, "without_a_touch_nothing_counts") else { return };
    // The attacker has a passkey too, which no administrator has added.
    let line = page.enrol("alice");
    let words: Vec<&str> = line.split(' ').collect();
    let [_, _, _, key, id] = words[..] else { panic!("{line}") };
    let id = id.strip_prefix("webauthn:").unwrap();
    let draft = page.open_draft("never");
    page.replace_fetch(&format!(
        "const body = options.body;
         if (path === '/actions') window.kept = JSON.parse(body);
         if (window.kept) return new Promise(() => {{}});
         const answer = await send(path, options);
         const value = await answer.json();
         const url = (text) => text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
         value.credentials = [{{ id: '{id}', public_key: url('{key}') }}];
         return new Response(JSON.stringify(value));"
    ));
    page.confirm("reject");
    page.browser.wait_for("window.kept !== undefined");
    let kept = page.script("window.kept");
    let (header, signature) =
        (kept["prepared"].as_str().unwrap(), kept["signature"].as_str().unwrap());
    let reason = "is not in allowed_signers";
    scene.assert_refused("stranger", &format!("{header}{signature}"), reason);
    scene.assert_refused("unsigned", header, "does not end in one SSH signature");
    let approval = header.replacen("action: reject\n", "action: approve\nby: tester\n", 1);
    scene.assert_refused("other-use", &format!("{approval}{signature}"), "line 4");

    // The daemon reads no file that it writes elsewhere under the name of a signed request.
    for name in [format!("{draft}.md"), format!("{draft}.md.sig"), "x.md".to_owned()] {
        fs::write(scene.service.path("signed").join(name), "x").unwrap();
    }
    scene.assert_refused("last", "", "line 1");
    assert_eq!(list(&scene.service.path("drafts")).len(), 2);
    assert_eq!(scene.service.visible_results(), Vec::<String>::new());
}

#[test]
fn a_signature_counts_for_its_text_alone() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "a_signature_counts_for_its_text_alone";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let other = scene.draft_that_prints("other").id;
    let id = page.open_draft("one");
    let (header, signature) = page.sign_undelivered("approve");
    let own = document_line(&header, &id).to_owned();
    let file = scene.service.path(&format!("drafts/{other}.md"));
    let digest = CliOutput::of(bench.command("sha256sum").arg(file)).stdout;
    let moved = header.replacen(&own, &format!("document: {} {other}", &digest[..64]), 1);
    scene.assert_refused("other", &format!("{moved}{signature}"), "does not verify");
    let both = format!("{header}document: {} {other}\n", &digest[..64]);
    scene.assert_refused("both", &format!("{both}{signature}"), "namespace");
    let renamed = header.replacen("by: alice", "by: tester", 1);
    scene.assert_refused("renamed", &format!("{renamed}{signature}"), "does not verify");

    // Another script under the name that was signed.
    let path = scene.service.path(&format!("drafts/{id}.md"));
    let draft = fs::read_to_string(&path).unwrap();
    fs::write(&path, draft.replacen("time_limit_sec: 20", "time_limit_sec: 60", 1)).unwrap();
    scene.assert_refused("changed", &format!("{header}{signature}"), "has other bytes");
    fs::write(&path, &draft).unwrap();

    let answer = scene.deliver("good", &format!("{header}{signature}"));
    assert_eq!(answer["taken"], true, "{answer}");
    scene.service.record_of(&id).assert_outcome("ok");
    scene.assert_refused("again", &format!("{header}{signature}"), "not a draft any more");
    // An agent drafts the same bytes once more: the request was begun, and begins no second time.
    let inputs = scene.service.path(&format!("drafts/{id}.inputs"));
    fs::create_dir(&inputs).unwrap();
    fs::write(inputs.join("script.py"), "print('one')").unwrap();
    fs::write(&path, &draft).unwrap();
    scene.deliver("replay", &format!("{header}{signature}"));
    scene.service.wait_for("the end of the replay", |service| {
        let approved = list(&service.path("approved"));
        !approved.iter().any(|name| name.starts_with(&id)) && list(&service.path("work")).is_empty()
    });
    let records = scene.service.records();
    assert_eq!(records.iter().filter(|it| it.outcome() == "ok").count(), 1, "{records:#?}");
    assert_eq!(page.touches(), 1);
}

#[test]
fn a_batch_counts_for_its_list_alone() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "a_batch_counts_for_its_list_alone";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let ids: Vec<String> =
        (0..3).map(|it| scene.draft(RequestText::python(&format!("print({it})"))).id).collect();
    page.open_batch(&ids[..2]);
    let (header, signature) = page.sign_undelivered("approve");
    let file = scene.service.path(&format!("drafts/{}.md", ids[2]));
    let digest = CliOutput::of(bench.command("sha256sum").arg(file)).stdout;
    let third = format!("document: {} {}\n", &digest[..64], ids[2]);
    scene.assert_refused("more", &format!("{header}{third}{signature}"), "does not verify");
    let second = format!("{}\n", document_line(&header, &ids[1]));
    let fewer = header.replacen(&second, "", 1);
    scene.assert_refused("fewer", &format!("{fewer}{signature}"), "namespace");
    let swapped = header.replacen(&second, &third, 1);
    scene.assert_refused("swapped", &format!("{swapped}{signature}"), "does not verify");
    assert_eq!(list(&scene.service.path("drafts")).len(), 6);
    let answer = scene.deliver("good", &format!("{header}{signature}"));
    assert_eq!(answer["taken"], true, "{answer}");
    for id in &ids[..2] {
        scene.service.record_of(id).assert_outcome("ok");
    }
    assert!(scene.service.records_of(&ids[2]).is_empty());
}

/// A page at another port of localhost can use the same passkey. Its origin is signed too.
#[test]
fn a_page_of_another_origin_signs_nothing_that_counts() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "a_page_of_another_origin_signs_nothing_that_counts";
    let Some(mut page) = ApproverPage::enrolled(&scene, test) else { return };
    let other = scene.another_console();
    let id = scene.draft_that_prints("never").id;
    let chosen = json!({ "action": "approve", "ids": [id], "by": "alice" }).to_string();
    // An honest console of that origin asks for no signature.
    let refused = post(other.port, "/prepare", &chosen);
    assert_eq!(refused.status, 409, "{refused:?}");
    let prepared = post(scene.console.port, "/prepare", &chosen).json();
    page.use_origin(other.origin());
    page.open(&format!("/requests/{id}"));
    page.replace_fetch(&format!(
        "if (path !== '/prepare') return send(path, options);
         return new Response(JSON.stringify({prepared}));"
    ));
    page.confirm("approve");
    let message = page.message();
    assert!(message.contains("does not list the origin"), "{message}");
    assert!(message.contains(&other.origin()), "{message}");
    assert_eq!(page.touches(), 1);
    assert!(scene.service.path(&format!("drafts/{id}.md")).exists());
    assert_eq!(scene.service.visible_results(), Vec::<String>::new());
}
