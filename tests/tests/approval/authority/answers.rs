//! Answers to permission requests: only an authorized person's lets a held request run.

use std::fs;
use std::io::Write;
use std::thread;
use std::time::Duration;

use toolexec_tests::{Bench, Record, list, ssh_keygen_works};

use super::host::{
    AuthorityHost, CORE_DRAFTS, TOOL, block, drafted, new_key, of_agent, plain, rules_of,
};

const HELD: &str = "permission.requestable";

#[track_caller]
fn assert_permission(record: &Record, lines: &[&str]) {
    let facts = block(record, "permission");
    for line in lines {
        assert!(facts.contains(line), "{line} is not in\n{facts}");
    }
}

#[test]
fn a_request_of_an_agent_waits_for_the_answer_and_runs_by_it() {
    if !ssh_keygen_works("a_request_of_an_agent_waits_for_the_answer_and_runs_by_it") {
        return;
    }
    let bench = Bench::new();
    let host = AuthorityHost::start(&bench, &[CORE_DRAFTS]);
    let request = host.submit(&of_agent("stats.agent", "wf-1"));
    let row = host.assert_held(&request.id, HELD);
    assert!(list(&host.service.path("results")).iter().all(|name| name.starts_with('.')));
    assert!(host.service.staging_slots().is_empty() || list(&host.service.path("work")).is_empty());
    // The text output agrees with the JSON, and shows the deadline.
    let until = row["held"]["until_utc"].as_str().unwrap().to_owned();
    let words = ["held", HELD, &until, "agent stats.agent in wf-1"];
    // A new decision about a held request takes it out of the list for a moment.
    host.service.wait_for(&format!("{words:?} in the list"), |service| {
        let output = bench.toolexec([
            "list".as_ref(),
            "--waiting".as_ref(),
            "--spool".as_ref(),
            service.spool().as_os_str(),
        ]);
        output.assert_code(0);
        words.iter().all(|word| output.stdout.contains(word))
    });
    assert!(row["held"]["since_utc"].as_str().unwrap() < until.as_str());
    let question = host.permission_request();
    let text = fs::read_to_string(&question).unwrap();
    for word in ["stats.agent", "wf-1", TOOL, "script.py"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    host.answer(&question, &["--grant", TOOL]);
    let record = host.service.record_of(&request.id);
    record.assert_outcome("ok");
    assert_permission(
        &record,
        &[
            "agent: \"stats.agent\"",
            "subject: \"wf-1\"",
            "accesscontrol: null",
            "tool: \"toolexec.run.python\"",
            "state: \"APPROVED\"",
        ],
    );
    let row = rules_of(&record).into_iter().find(|row| row[0] == "permission").unwrap();
    assert_eq!(row[1], "pass");
    host.service.verify().assert_code(0);
    host.assert_unlisted(&request.id);
    // It covers the agent's next draft in the same workflow, and no other agent's.
    let next = host.submit(&of_agent("stats.agent", "wf-1"));
    host.service.record_of(&next.id).assert_outcome("ok");
    for (name, subject) in [("stats.agent", "wf-2"), ("other.agent", "wf-1")] {
        let other = host.submit(&of_agent(name, subject));
        host.assert_held(&other.id, HELD);
    }
    let person = host.submit(&plain());
    let record = host.service.record_of(&person.id);
    record.assert_outcome("ok");
    assert!(record.text.contains("\npermission: null\n"), "{}", record.text);
}

/// As `cp` does on a busy host: the daemon, which looks every second, reads a part.
#[test]
fn an_answer_that_is_still_being_copied_is_not_turned_down() {
    if !ssh_keygen_works("an_answer_that_is_still_being_copied_is_not_turned_down") {
        return;
    }
    let bench = Bench::new();
    let host = AuthorityHost::start(&bench, &[CORE_DRAFTS]);
    let request = host.submit(&of_agent("a", "wf-1"));
    host.assert_held(&request.id, HELD);
    let own = host.write_answer(&host.permission_request(), &host.key, &["--grant", TOOL]);
    let name = own.file_name().unwrap().to_str().unwrap();
    let place = host.service.path("approved");
    fs::copy(format!("{}.sig", own.display()), place.join(format!("{name}.sig"))).unwrap();
    let bytes = fs::read(&own).unwrap();
    // Each piece makes the file new again, so the pauses may be longer on a busy host.
    let mut copy = fs::File::create(place.join(name)).unwrap();
    for piece in bytes.chunks(bytes.len().div_ceil(20)) {
        copy.write_all(piece).unwrap();
        thread::sleep(Duration::from_millis(100));
    }
    drop(copy);
    host.service.record_of(&request.id).assert_outcome("ok");
    assert!(!host.service.path("quarantine/permissions").exists());
}

#[test]
fn a_denial_refuses_and_files_no_other_request() {
    if !ssh_keygen_works("a_denial_refuses_and_files_no_other_request") {
        return;
    }
    let bench = Bench::new();
    let host = AuthorityHost::start(&bench, &[CORE_DRAFTS]);
    let request = host.submit(&of_agent("a", "wf-1"));
    host.assert_held(&request.id, HELD);
    let question = host.permission_request();
    host.answer(&question, &["--deny", TOOL]);
    let record = host.assert_refused(&request.id, "permission.denied");
    assert_permission(&record, &["state: \"DENIED\""]);
    let next = host.submit(&of_agent("a", "wf-1"));
    host.assert_refused(&next.id, "permission.denied");
    assert_eq!(host.permission_requests(), [question], "nobody is asked again");
    host.service.verify().assert_code(0);
}

#[test]
fn a_single_use_serves_one_of_two_requests() {
    if !ssh_keygen_works("a_single_use_serves_one_of_two_requests") {
        return;
    }
    let bench = Bench::new();
    let host = AuthorityHost::start(&bench, &[CORE_DRAFTS]);
    let requests = [of_agent("a", "wf-1"), of_agent("a", "wf-1")].map(|text| host.submit(&text));
    for request in &requests {
        host.assert_held(&request.id, HELD);
    }
    let question = host.permission_request();
    host.answer(&question, &["--grant", TOOL, "--uses", "1"]);
    host.service.wait_for("one of them to run", |service| service.records().len() == 1);
    host.service.wait_for("another question", |_| host.permission_requests().len() == 2);
    let records = host.service.records();
    records[0].assert_outcome("ok");
    let waits = requests.iter().find(|it| !records[0].id().ends_with(&it.id)).unwrap();
    host.assert_held(&waits.id, HELD);
    // A repeated answer has no effect.
    let answer = question.with_extension("json.answer.json");
    host.submit_answer(&answer);
    host.wait_for_answer(&answer, "quarantine");
    host.assert_held(&waits.id, HELD);
    let again = host.permission_requests().into_iter().find(|it| *it != question).unwrap();
    host.answer(&again, &["--grant", TOOL, "--uses", "1"]);
    host.service.record_of(&waits.id).assert_outcome("ok");
    host.service.verify().assert_code(0);
}

#[test]
fn an_answer_without_authority_changes_nothing() {
    if !ssh_keygen_works("an_answer_without_authority_changes_nothing") {
        return;
    }
    let bench = Bench::new();
    let host = AuthorityHost::start(&bench, &[CORE_DRAFTS]);
    let request = host.submit(&of_agent("a", "wf-1"));
    host.assert_held(&request.id, HELD);
    let (question, eve) = (host.permission_request(), new_key(&bench, "eve"));
    let turned_down = |count: usize, why: &str| {
        let place = host.service.path("quarantine/permissions");
        let answers = || list(&place).iter().filter(|name| !name.contains(".sig")).count();
        host.service.wait_for("the answer to be turned down", |_| answers() == count);
        host.service.wait_for("why", |service| service.log().contains(why));
        assert!(!list(&host.service.path("approved")).iter().any(|name| name.contains("answer")));
    };
    let unsign = |answer: &std::path::Path| {
        fs::remove_file(format!("{}.sig", answer.display())).unwrap();
    };
    // Unsigned, signed by an unknown key, for another purpose, and changed after signing.
    let answer = host.write_answer(&question, &eve, &["--grant", TOOL]);
    let own = fs::read(&answer).unwrap();
    host.submit_file(&answer);
    turned_down(1, "answer not accepted");
    host.submit_answer(&answer);
    turned_down(2, "is not in allowed_signers");
    unsign(&answer);
    super::host::sign(super::host::APPROVE, &host.key, &answer);
    host.submit_answer(&answer);
    turned_down(3, "namespace");
    unsign(&answer);
    super::host::sign("permission.tool-exec@threegate", &host.key, &answer);
    let text = String::from_utf8(own).unwrap();
    fs::write(&answer, text.replacen("\"data\"", " \"data\"", 1)).unwrap();
    host.submit_answer(&answer);
    turned_down(4, "signature");
    host.assert_held(&request.id, HELD);
    assert!(host.service.log().contains("WARN"), "{}", host.service.log());
    assert_eq!(host.permission_request(), question);
    // The correct one still counts.
    fs::remove_file(&answer).unwrap();
    unsign(&answer);
    host.answer(&question, &["--grant", TOOL]);
    host.service.record_of(&request.id).assert_outcome("ok");
}

/// A draft without an agent name gets no more trust.
#[test]
fn a_draft_without_an_agent_belongs_to_unknown() {
    if !ssh_keygen_works("a_draft_without_an_agent_belongs_to_unknown") {
        return;
    }
    let bench = Bench::new();
    let host = AuthorityHost::start(&bench, &[CORE_DRAFTS]);
    // No agent may have this name: an answer for it would apply to drafts without a name.
    let so_called = host.submit(&of_agent("Unknown", "wf-1"));
    host.assert_refused(&so_called.id, "permission.denied");
    assert!(host.permission_requests().is_empty());
    let request = host.submit(&drafted());
    let row = host.assert_held(&request.id, HELD);
    let messages = row["held"]["waits_for"].to_string();
    assert!(messages.contains(&format!("agent unknown in {}", request.id)), "{messages}");
    // A request that names an agent without `core_draft` needs the permission too.
    let agent = "x-agent: {name: \"b\", subject: \"wf-1\"}\npurpose:";
    let named = host.submit(&plain().edit("purpose:", agent));
    host.assert_held(&named.id, HELD);
    let question = host
        .permission_requests()
        .into_iter()
        .find(|path| fs::read_to_string(path).unwrap().contains(&request.id));
    host.answer(&question.unwrap(), &["--grant", TOOL]);
    let record = host.service.record_of(&request.id);
    record.assert_outcome("ok");
    assert_permission(&record, &["agent: \"unknown\"", "state: \"APPROVED\""]);
    host.assert_held(&named.id, HELD);
}
