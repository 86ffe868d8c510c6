//! The uses of standing approvals: the daemon publishes them beside the document, and the console
//! shows them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;
use toolexec_tests::{Bench, ssh_keygen_works};

use super::exchange::get;
use super::scene::ConsoleScene;

const SCRIPT: &str = "import sys; print(sys.argv[1])";

#[test]
fn uses_are_published_and_shown_until_the_revocation() {
    let test = "uses_are_published_and_shown_until_the_revocation";
    if !ssh_keygen_works(test) {
        return;
    }
    let bench = Bench::new();
    let mut scene = ConsoleScene::start(&bench);
    let standing = scene.admit_standing(SCRIPT);
    let file = scene.service.path(&format!("public/standing/{}.uses.json", standing.id));
    let published = || serde_json::from_slice::<Value>(&fs::read(&file).unwrap_or_default()).ok();
    let count = |published: Option<Value>| published.and_then(|it| it["uses"].as_u64());
    scene.service.wait_for("the file of uses", |_| count(published()) == Some(0));
    for last in ["7", "8"] {
        scene.run_use(&standing.use_of(SCRIPT, last)).assert_outcome("ok");
    }
    // A refused request does not count.
    scene.run_use(&standing.use_of(SCRIPT, "101")).assert_outcome("refused");
    let used = published().unwrap();
    assert_eq!(used["uses"], 2, "{used}");
    assert!(standing.reference().ends_with(used["sha256"].as_str().unwrap()), "{used}");
    let times = used["latest_utc"].as_array().unwrap().clone();
    assert_eq!(times.len(), 2, "{used}");
    let document = scene.service.path(&format!("public/standing/{}.md", standing.id));
    let mode = |path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&file), mode(&document));

    let spool = scene.service.spool();
    let spool = spool.to_str().unwrap();
    let words = ["standing", "uses", &standing.id, "--spool", spool, "--format", "json"];
    let listed = bench.toolexec(words).json_lines();
    assert_eq!(listed.len(), 2, "{listed:?}");
    assert_eq!((&listed[1]["use"], &listed[1]["begun_utc"]), (&2.into(), &times[1]), "{listed:?}");

    // A new daemon publishes the same from its ledger.
    scene.service.signal("TERM");
    scene.service.wait();
    fs::remove_file(&file).unwrap();
    scene.service.spawn();
    scene.service.wait_for("the file of uses", |_| file.exists());
    assert_eq!(published(), Some(used));

    let port = scene.console.port;
    let list = get(port, "/standing").body;
    assert!(list.contains("2 of 100 uses"), "{list}");
    let page = format!("/standing/{}", standing.id);
    let shown = get(port, &page).body;
    assert!(shown.contains("Uses so far: 2."), "{shown}");
    let time = times[1].as_str().unwrap();
    assert!(shown.contains(&format!("<li>{time}</li>")), "{time} is not in {shown}");
    // Uses of another document are not shown as uses of this one.
    let other = fs::read_to_string(&file).unwrap().replacen("\"sha256\":\"", "\"sha256\":\"0", 1);
    fs::write(&file, other).unwrap();
    assert!(!get(port, &page).body.contains("Uses so far"));

    scene.revoke_standing(&standing);
    scene.service.wait_for("the removal of the uses", |_| !file.exists());
    assert_eq!(get(port, &page).status, 404);
}
