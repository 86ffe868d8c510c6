//! Tests of permissions: the seed's semantics without the gaps of its public implementation, the
//! accepted authors, and the contract's schema of every file.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

mod answers;
mod scene;

use std::num::NonZeroU32;

use jsonschema::Validator;
use policies::permissions::{
    AcceptedAnswer, CONTRACT, CONTRACT_SCHEMA, CoveredInputs, Domains, GrantLimits,
    PermissionAnswer, PermissionCalls, PermissionChange, PermissionError, PermissionManager,
    PermissionSource, ToolAuthorizationState as State, Traceparent,
};
use proptest::prelude::*;
use scene::{
    PermissionScene, answer_to, at, calls, later, limited, noon, source, tool, with_inputs,
};
use serde_json::{Value, json};

#[test]
fn missing_permission_is_requestable_for_exactly_its_key() {
    let mut scene = PermissionScene::new();
    let mine = source("wf-1");
    assert_eq!(scene.state(&mine, "a"), State::Requestable);
    scene.request_and_answer(&mine, &["a"], &[]);
    assert_eq!(scene.state(&mine, "a"), State::Approved);
    let scope = Some("tenant:x".parse().unwrap());
    let others = [
        source("wf-2"),
        PermissionSource { accesscontrol: scope, ..mine.clone() },
        PermissionSource { name: "other".parse().unwrap(), ..mine.clone() },
    ];
    for other in others {
        assert_eq!(scene.state(&other, "a"), State::Requestable, "{other}");
    }
    assert_eq!(scene.state(&mine, "A"), State::Requestable);
}

#[test]
fn denial_wins_and_omitted_tools_are_denied() {
    let mut scene = PermissionScene::new();
    let mine = source("wf-1");
    let filed = scene.add_request(&mine, &calls(&["both", "left", "yes"])).unwrap();
    scene.set(answer_to(&filed, &["both", "yes"], &["both"])).unwrap();
    let wanted = calls(&["both", "left", "never", "yes"]);
    let found = scene.store.get(&mine, &wanted, &noon()).unwrap();
    let states: Vec<State> = found.values().copied().collect();
    assert_eq!(states, [State::Denied, State::Denied, State::Requestable, State::Approved]);
    // Denied tools are never requested, alone or among others.
    assert!(matches!(
        scene.add_request(&mine, &calls(&["both"])),
        Err(PermissionError::Blocked(..))
    ));
    let filed = scene.add_request(&mine, &calls(&["both", "never", "yes"])).unwrap();
    let tools: Vec<_> = filed.ask.tools.iter().map(|it| it.tool.as_str()).collect();
    assert_eq!(tools, ["never"]);
}

#[test]
fn a_single_use_is_used_up_by_its_own_call_only() {
    let mut scene = PermissionScene::new();
    let mine = source("wf-1");
    let filed = scene.add_request(&mine, &calls(&["a", "b"])).unwrap();
    let once = GrantLimits { uses: NonZeroU32::new(1), ..GrantLimits::default() };
    let both = limited(limited(answer_to(&filed, &["a", "b"], &[]), "a", once), "b", once);
    scene.set(both).unwrap();
    // Reading uses nothing up.
    for _ in 0..3 {
        assert_eq!(scene.state(&mine, "a"), State::Approved);
    }
    let two = with_inputs("a", &[json!({}), json!({"x": 1})]);
    assert_eq!(scene.state_of(&mine, &two, "a"), State::Requestable, "two calls, one use");
    assert!(scene.store.spend(&mine, &two, &noon()).is_err());
    let spent = scene.store.spend(&mine, &calls(&["a"]), &noon()).unwrap();
    assert!(matches!(spent, Some(PermissionChange::Spent { uses, .. }) if uses.len() == 1));
    assert_eq!(scene.state(&mine, "a"), State::Requestable);
    assert_eq!(scene.state(&mine, "b"), State::Approved, "the other grant is untouched");
    assert!(scene.store.spend(&mine, &calls(&["a", "b"]), &noon()).is_err(), "all or none");
    assert_eq!(scene.state(&mine, "b"), State::Approved);
}

#[test]
fn grants_are_bound_to_inputs_and_time() {
    let mut scene = PermissionScene::new();
    let mine = source("wf-1");
    let shown = with_inputs("a", &[json!({"x": 1, "y": [2]})]);
    let filed = scene.add_request(&mine, &shown).unwrap();
    let limits = GrantLimits {
        arguments: CoveredInputs::AsRequested,
        expires_utc: Some(later(60).now),
        uses: None,
    };
    scene.set(limited(answer_to(&filed, &["a"], &[]), "a", limits)).unwrap();
    let mut state = |inputs: &[Value]| scene.state_of(&mine, &with_inputs("a", inputs), "a");
    assert_eq!(
        state(&[json!({"y": [2], "x": 1})]),
        State::Approved,
        "the order of members is none"
    );
    assert_eq!(state(&[json!({"x": 1, "y": [3]})]), State::Requestable);
    assert_eq!(state(&[json!({"x": 1, "y": [2]}), json!({})]), State::Requestable);
    assert_eq!(scene.state(&mine, "a"), State::Requestable, "of unknown inputs");
    for (seconds, expected) in [(59, State::Approved), (60, State::Requestable)] {
        let found = scene.store.get(&mine, &shown, &later(seconds)).unwrap();
        assert_eq!(found[&tool("a")], expected, "{seconds}");
    }
    let filed = scene.add_request(&mine, &calls(&["b"])).unwrap();
    let none = limited(answer_to(&filed, &["b"], &[]), "b", limits);
    assert!(matches!(scene.set(none), Err(PermissionError::NoInputs(_))));
    let over = GrantLimits { expires_utc: Some(noon().now), ..GrantLimits::default() };
    let over = limited(answer_to(&filed, &["b"], &[]), "b", over);
    assert!(matches!(scene.set(over), Err(PermissionError::ExpiredGrant(..))));
}

#[test]
fn answer_counts_once_and_only_for_its_request() {
    let mut scene = PermissionScene::new();
    let (mine, other) = (source("wf-1"), source("wf-2"));
    let filed = scene.add_request(&mine, &calls(&["a"])).unwrap();
    assert_eq!(
        scene.add_request(&mine, &calls(&["a"])).unwrap().file,
        None,
        "it is not asked twice"
    );
    let yes = answer_to(&filed, &["a"], &[]);
    type ExpectedError = fn(&PermissionError) -> bool;
    let refusals: [(PermissionAnswer, ExpectedError); 4] = [
        (answer_to(&filed, &["a", "b"], &[]), |it| matches!(it, PermissionError::NotRequested(..))),
        (answer_to(&filed, &[], &["b"]), |it| matches!(it, PermissionError::NotRequested(..))),
        (edited(&yes, |it| it.answers.source = other.clone()), |it| {
            matches!(it, PermissionError::SourceMismatch(_))
        }),
        (edited(&yes, |it| it.answers.sha256 = model::Sha256::of(b"")), |it| {
            matches!(it, PermissionError::DigestMismatch(_))
        }),
    ];
    for (wrong, expected) in refusals {
        let error = scene.set(wrong).unwrap_err();
        assert!(expected(&error), "{error:?}");
    }
    let vouched = AcceptedAnswer::vouched_for(yes.clone(), "test");
    let late = scene.store.set(&mine, &vouched, &at("2026-02-16T12:00:00Z"));
    assert!(matches!(late, Err(PermissionError::Expired(_))));
    assert!(matches!(
        scene.store.set(&other, &vouched, &noon()),
        Err(PermissionError::SourceMismatch(_))
    ));
    assert_eq!(scene.state(&mine, "a"), State::Requestable, "none of these changed anything");
    scene.set(yes.clone()).unwrap();
    scene.store.revoke(&mine, &tool("a"), None, &noon()).unwrap();
    assert!(matches!(scene.set(yes), Err(PermissionError::NotOpen(_))), "a replay");
    assert_eq!(scene.state(&mine, "a"), State::Requestable);
}

fn edited(answer: &PermissionAnswer, edit: impl FnOnce(&mut PermissionAnswer)) -> PermissionAnswer {
    let mut answer = answer.clone();
    edit(&mut answer);
    answer
}

#[test]
fn revocation_removes_grants_and_open_requests_but_not_denials() {
    let mut scene = PermissionScene::new();
    let mine = source("wf-1");
    scene.request_and_answer(&mine, &["a"], &["b"]);
    let open = scene.add_request(&mine, &calls(&["c"])).unwrap();
    for name in ["a", "c"] {
        scene.store.revoke(&mine, &tool(name), None, &noon()).unwrap();
        assert_eq!(scene.state(&mine, name), State::Requestable);
    }
    let answered_before = answer_to(&open, &["c"], &[]);
    assert!(matches!(scene.set(answered_before), Err(PermissionError::NotOpen(_))));
    let again = scene.store.revoke(&mine, &tool("a"), None, &noon());
    assert!(matches!(again, Err(PermissionError::NothingToRevoke(_))));
    assert!(scene.store.revoke(&mine, &tool("b"), None, &noon()).is_err());
    assert_eq!(scene.state(&mine, "b"), State::Denied);
    scene.store.remove_denial(&mine, &tool("b"), &noon()).unwrap();
    assert_eq!(scene.state(&mine, "b"), State::Requestable);
    assert!(scene.store.remove_denial(&mine, &tool("a"), &noon()).is_err());
}

#[test]
fn a_denial_ends_older_grants_for_good_whatever_came_first() {
    for denial_first in [true, false] {
        let mut scene = PermissionScene::new();
        let mine = source("wf-1");
        let one = scene.add_request(&mine, &calls(&["a"])).unwrap();
        let two = scene.add_request(&mine, &calls(&["a", "b"])).unwrap();
        let (yes, no) = (answer_to(&one, &["a"], &[]), answer_to(&two, &["b"], &["a"]));
        for next in if denial_first { [no, yes] } else { [yes, no] } {
            scene.set(next).unwrap();
        }
        assert_eq!(scene.state(&mine, "a"), State::Denied, "{denial_first}");
        scene.store.remove_denial(&mine, &tool("a"), &noon()).unwrap();
        assert_eq!(scene.state(&mine, "a"), State::Requestable, "{denial_first}");
    }
}

#[test]
fn a_cleanup_forgets_exactly_one_workflow() {
    let mut scene = PermissionScene::new();
    let (mine, other) = (source("wf-1"), source("wf-2"));
    let scoped = PermissionSource { accesscontrol: Some("t".parse().unwrap()), ..mine.clone() };
    for source in [&mine, &other, &scoped] {
        scene.request_and_answer(source, &["a"], &["b"]);
    }
    let open = scene.add_request(&mine, &calls(&["c"])).unwrap();
    assert!(scene.store.cleanup(&mine, &noon()).unwrap().is_some());
    assert_eq!(scene.state(&mine, "a"), State::Requestable);
    assert_eq!(scene.state(&mine, "b"), State::Requestable);
    assert!(scene.set(answer_to(&open, &["c"], &[])).is_err());
    for kept in [&other, &scoped] {
        assert_eq!(scene.state(kept, "a"), State::Approved);
    }
    assert_eq!(
        scene.store.cleanup(&mine, &noon()).unwrap(),
        None,
        "a second cleanup changes nothing"
    );
    let numbers: Vec<u64> = scene.store.trail().map(|entry| entry.number).collect();
    assert_eq!(numbers, (1..=8).collect::<Vec<_>>(), "one entry for each change");
}

#[test]
fn a_workflow_is_idle_from_its_last_entry() {
    let mut scene = PermissionScene::new();
    let (old, waiting, gone) = (source("wf-1"), source("wf-2"), source("wf-3"));
    scene.request_and_answer(&old, &["a"], &[]);
    scene.add_request(&waiting, &calls(&["a"])).unwrap();
    scene.request_and_answer(&gone, &["a"], &[]);
    scene.store.cleanup(&gone, &noon()).unwrap();
    let idle = |scene: &PermissionScene, seconds| {
        let changes = scene.store.register().plan_idle_cleanup(60, later(seconds).now);
        let mut sources: Vec<PermissionSource> =
            changes.iter().map(|change| change.source().unwrap().clone()).collect();
        sources.sort();
        sources
    };
    assert_eq!(idle(&scene, 59), []);
    assert_eq!(idle(&scene, 60), [old.clone(), waiting.clone()]);
    assert_eq!(idle(&scene, -3600), [], "a clock that was put back");
    scene.store.revoke(&old, &tool("a"), None, &later(30)).unwrap();
    assert_eq!(idle(&scene, 89), [waiting], "nothing is kept of the first");
}

#[test]
fn requests_and_answers_match_the_contracts_schema() {
    let root: Value = serde_json::from_str(CONTRACT_SCHEMA).unwrap();
    let schema = jsonschema::draft202012::new(&root).unwrap();
    let part = |name: &str| -> Validator {
        let mut root = root.clone();
        let parts = root.as_object_mut().unwrap();
        parts.remove("oneOf");
        parts.insert("$ref".into(), json!(format!("#/$defs/{name}")));
        jsonschema::draft202012::new(&root).unwrap()
    };
    let mut scene = PermissionScene::new();
    let mine = source("wf-1");
    assert_eq!((scene.store.contract(), CONTRACT.version), (&CONTRACT, "1.0.0"));
    assert_eq!(scene.store.domains(), None);
    let requested = with_inputs("a", &[json!({"argv": ["x"]})]);
    let data = scene.store.request_builder(&mine, &requested, &noon());
    let data = serde_json::to_value(data).unwrap();
    assert!(part("accepts").is_valid(&data), "{data}");
    assert_eq!(data["agentId"], "core");
    assert_eq!(data["requestedTools"], json!(["a"]));
    assert_eq!(data["toolMetaData"]["a"]["requests"], json!([{"input": {"argv": ["x"]}}]));
    let filed = scene.add_request(&mine, &requested).unwrap();
    let file: Value = serde_json::from_slice(filed.file.as_ref().unwrap()).unwrap();
    assert!(schema.is_valid(&file), "{file}");
    let once = GrantLimits { uses: NonZeroU32::new(1), ..GrantLimits::default() };
    let yes = limited(answer_to(&filed, &["a"], &[]), "a", once);
    let file: Value = serde_json::from_slice(&yes.bytes()).unwrap();
    assert!(schema.is_valid(&file) && part("success").is_valid(&file["data"]), "{file}");
    assert_eq!(PermissionAnswer::read(&yes.bytes()).unwrap(), yes);
}

#[test]
fn permission_calls_are_read_strictly() {
    let good = r#"{"source": {"name": "n", "subject": "s", "accesscontrol": null}, "tools": {"t":
        {"definition": {"name": "t", "description": "d", "serverConfig": {"kind": "mcp", "name": "o"}},
         "requests": [{"toolUseId": "1", "name": "t", "input": {"a": 1}}]}}}"#;
    let (source, calls) = PermissionCalls::read(good.as_bytes()).unwrap();
    assert_eq!(source.subject.as_str(), "s");
    let (_, tool_calls) = calls.iter().next().unwrap();
    assert_eq!((tool_calls.kind.as_str(), tool_calls.original_name.as_str()), ("mcp", "o"));
    for (from, to) in [
        (r#""accesscontrol": null"#, r#""accesscontrol": """#),
        (r#", "accesscontrol": null"#, ""),
        (r#""name": "n","#, r#""name": "n", "name": "m","#),
        (r#""name": "t", "input""#, r#""name": "u", "input""#),
        (r#"{"name": "t", "desc"#, r#"{"name": "u", "desc"#),
        (r#"{"a": 1}"#, "[1]"),
        (r#"{"a": 1}"#, r#"{"a": 9007199254740993}"#),
        (r#"{"a": 1}"#, r#"{"a": 1}, "more": 1"#),
        (r#""name": "n""#, "\"name\": \"n\\u202e\""),
        (r#""name": "n""#, r#""name": " n""#),
    ] {
        assert!(good.contains(from), "{from}");
        assert!(PermissionCalls::read(good.replace(from, to).as_bytes()).is_err(), "{from} → {to}");
    }
    assert!(PermissionCalls::read("[".repeat(100_000).as_bytes()).is_err());
}

#[test]
fn a_traceparent_is_read_strictly() {
    let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    assert_eq!(good.parse::<Traceparent>().unwrap().to_string(), good);
    for bad in [
        "",
        "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
        "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        " 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    ] {
        assert!(bad.parse::<Traceparent>().is_err(), "{bad}");
    }
}

#[test]
fn domains_are_plain_names_and_never_none() {
    let domains = |names: &[&str]| {
        Domains::try_from(names.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    assert!(domains(&["human.interaction", "x"]).is_ok());
    for bad in [&[][..], &[".."], &["a/b"], &[""], &["a", "a"], &[".hidden"], &["a\n"]] {
        assert!(domains(bad).is_err(), "{bad:?}");
    }
}

/// One person's answer for four tools: not requested, granted, denied, both, or omitted.
fn person_answers() -> impl Strategy<Value = [u8; 4]> {
    prop::array::uniform4(0_u8..5)
}

fn apply_answer(scene: &mut PermissionScene, source: &PermissionSource, output: [u8; 4]) {
    let names = ["a", "b", "c", "d"];
    let named = |wanted: &[u8]| -> Vec<&str> {
        names
            .iter()
            .zip(output)
            .filter(|(_, it)| wanted.contains(it))
            .map(|(name, _)| *name)
            .collect()
    };
    let Ok(filed) = scene.add_request(source, &calls(&named(&[1, 2, 3, 4]))) else { return };
    let requested = |list: Vec<&'static str>| -> Vec<&'static str> {
        list.into_iter()
            .filter(|it| filed.ask.tools.iter().any(|one| one.tool == tool(it)))
            .collect()
    };
    let names_of = |wanted: &[u8]| -> Vec<&'static str> {
        requested(
            names
                .iter()
                .zip(output)
                .filter(|(_, it)| wanted.contains(it))
                .map(|(name, _)| *name)
                .collect(),
        )
    };
    scene.set(answer_to(&filed, &names_of(&[1, 3]), &names_of(&[2, 3]))).unwrap();
}

proptest! {
    #[test]
    fn a_further_denial_never_permits(output in prop::collection::vec(person_answers(), 1..5), at in 0_usize..5, tool_at in 0_usize..4) {
        let mine = source("wf-1");
        let (mut less, mut more) = (PermissionScene::new(), PermissionScene::new());
        for (index, answer) in output.iter().enumerate() {
            apply_answer(&mut less, &mine, *answer);
            let mut stricter = *answer;
            if index == at {
                stricter[tool_at] = match answer[tool_at] { 1 => 3, 0 => 2, other => other };
            }
            apply_answer(&mut more, &mine, stricter);
        }
        for name in ["a", "b", "c", "d"] {
            if more.state(&mine, name) == State::Approved {
                prop_assert_eq!(less.state(&mine, name), State::Approved, "{}", name);
            }
        }
    }

    #[test]
    fn a_tool_is_approved_only_if_some_answer_granted_it(output in prop::collection::vec(person_answers(), 1..5)) {
        let (mut scene, mine) = (PermissionScene::new(), source("wf-1"));
        output.iter().for_each(|answer| apply_answer(&mut scene, &mine, *answer));
        for (index, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
            let first = output.iter().map(|answer| answer[index]).find(|it| *it != 0);
            let expected = match first {
                None => State::Requestable,
                Some(1) => State::Approved,
                Some(_) => State::Denied,
            };
            prop_assert_eq!(scene.state(&mine, name), expected, "{}", name);
        }
    }
}
