//! Fuzzes the parsers of permission calls, permission requests, answers and traces. They must never
//! panic, and an answer must be equal after it is written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use model::UtcTime;
use policies::SignatureFile;
use policies::permissions::{
    AnswerEvidence, AnswerRules, Author, InMemoryStore, OperationContext, PermissionAnswer,
    PermissionCalls, PermissionManager, PermissionRequestFile, ToolAuthorizationState, Traceparent,
};

fuzz_target!(|bytes: &[u8]| {
    let traceparent = Traceparent::from_random([1; 24]);
    let moment = OperationContext {
        now: UtcTime::from_unix(0),
        traceparent,
        by: Author::Program(String::new()),
    };
    if let Ok((source, calls)) = PermissionCalls::read(bytes) {
        let mut store = InMemoryStore::default();
        if let Ok(found) = store.get(&source, &calls, &moment) {
            assert!(found.values().all(|it| *it == ToolAuthorizationState::Requestable));
        }
        if let Ok(filed) = store.add_request(&source, &calls, &moment, 0) {
            let file = filed.file.expect("it is new");
            assert!(PermissionRequestFile::read(&file).is_ok());
        }
    }
    if let Ok(file) = PermissionRequestFile::read(bytes) {
        assert!(file.data.requested_tools.len() <= bytes.len());
    }
    if let Ok(answer) = PermissionAnswer::read(bytes) {
        assert_eq!(PermissionAnswer::read(&answer.bytes()), Ok(answer));
    }
    let signatures = [SignatureFile { name: String::new(), bytes: bytes.to_vec() }];
    let evidence = AnswerEvidence { signatures: &signatures, owner: None, now: moment.now };
    assert!(AnswerRules::default().accept(bytes, &evidence).is_err());
    if let Some(trace) =
        std::str::from_utf8(bytes).ok().and_then(|it| it.parse::<Traceparent>().ok())
    {
        assert_eq!(trace.to_string().as_bytes(), bytes);
    }
});
