//! The command of a call, in words or in one line: in a draft, and to select standing approvals.

use std::fs;

use serde_json::json;
use toolexec_tests::{Bench, StandingText, list};

use super::agent::{McpTestClient, empty_spool, good, python};

#[test]
fn a_command_is_given_in_words_or_in_one_line() {
    let Some(python) = python("a_command_is_given_in_words_or_in_one_line") else { return };
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    let mut agent = McpTestClient::start(&python, &bench, &spool, &[]);
    let mut draft = good();
    draft["command"] = "python mean.py /in/table.csv '/out/mean.json'".into();
    let both = agent.call("draft_tool_request", draft.clone());
    both.assert_refused(&["words, command: both given"]);
    draft.as_object_mut().unwrap().remove("words");
    let mut neither = draft.clone();
    neither.as_object_mut().unwrap().remove("command");
    agent.call("draft_tool_request", neither).assert_refused(&["words, command: neither given"]);
    let mut piped = draft.clone();
    piped["command"] = "python mean.py /in/table.csv | tee /out/mean.json".into();
    let refused = agent.call("draft_tool_request", piped);
    assert!(refused.is_error && refused.codes().contains(&"command.pipeline"), "{refused:#?}");
    assert_eq!(list(&spool.join("drafts")), Vec::<String>::new());

    let written = agent.call("draft_tool_request", draft);
    let id = written.assert_good().structured["request_id"].as_str().unwrap();
    let text = fs::read_to_string(spool.join(format!("drafts/{id}.md"))).unwrap();
    assert!(text.contains("\npython mean.py /in/table.csv '/out/mean.json'\n"), "{text}");
    agent.disconnect();
}

#[test]
fn a_command_selects_the_standing_approvals_that_admit_it() {
    let Some(python) = python("a_command_selects_the_standing_approvals_that_admit_it") else {
        return;
    };
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    fs::create_dir(spool.join("public/standing")).unwrap();
    let standing = StandingText::of_script("print(1)");
    let saved = standing.save(&spool.join("public/standing"));
    let mut agent = McpTestClient::start(&python, &bench, &spool, &["--agent", "core"]);
    let mut listed = |arguments| {
        let answer = agent.call("list_standing_approvals", arguments);
        answer.assert_good().structured.clone()
    };
    let all = listed(json!({}));
    assert_eq!(all["standing_approvals"][0]["reference"], saved.reference().as_str(), "{all:#}");
    assert!(all["others"].is_null(), "{all:#}");
    for command in [
        json!({ "command": "python script.py 7" }),
        json!({ "words": ["python", "script.py", "7"], "inputs": ["script.py"] }),
    ] {
        let fits = listed(command);
        let found = &fits["standing_approvals"][0];
        assert_eq!(found["parameters_of_command"], json!({ "last": "7" }), "{fits:#}");
        assert_eq!(fits["others"], json!([]), "{fits:#}");
    }
    for (command, difference) in [
        ("python script.py 101", "word 3 is not a value of {last}"),
        ("python other.py 7", "word 2 is another"),
        ("python script.py", "2 words instead of 3"),
    ] {
        let none = listed(json!({ "command": command }));
        assert_eq!(none["standing_approvals"], json!([]), "{none:#}");
        let found = none["others"][0]["difference"].as_str().unwrap();
        assert!(found.contains(difference), "{none:#}");
    }
    let surplus = listed(json!({ "command": "python script.py 7", "inputs": ["more.csv"] }));
    let found = surplus["others"][0]["difference"].as_str().unwrap();
    assert!(found.contains("more.csv"), "{surplus:#}");
    agent
        .call("list_standing_approvals", json!({ "command": "python a.py | sh" }))
        .assert_refused(&["command"]);
    agent.disconnect();
}
