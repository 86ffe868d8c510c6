//! Permissions on the disk compared with those in memory: the same operations give the same
//! results, with reopened trails, a second handle and new trail files in between.

use policies::permissions::{
    FiledRequest, GrantId, InMemoryStore, PermissionChange, PermissionError, PermissionManager,
    PermissionSource, PermissionTerms, ToolName,
};
use proptest::prelude::*;
use spool::{PermissionStore, PermissionStoreError};

use super::scene::{StoreTestDir, answer, calls, noon, source, tool};

const TOOLS: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Debug)]
enum StoreOperation {
    AddRequest(u64, usize),
    /// Answers the permission request that was filed this many steps ago.
    Answer(usize, u8, Option<u32>),
    Spend(u64, usize),
    Revoke(u64, usize),
    RevokeOne(u64, usize, usize),
    Lift(u64, usize),
    CleanUp(u64),
    Reopen,
    BeginAnew,
    OtherHandle,
}

fn step() -> impl Strategy<Value = StoreOperation> {
    let (who, which) = (0_u64..3, 0_usize..3);
    prop_oneof![
        4 => (who.clone(), 0_usize..7).prop_map(|(who, set)| StoreOperation::AddRequest(who, set)),
        6 => (0_usize..4, 0_u8..16, prop::option::of(1_u32..3))
            .prop_map(|(ago, output, uses)| StoreOperation::Answer(ago, output, uses)),
        3 => (who.clone(), which.clone()).prop_map(|(who, tool)| StoreOperation::Spend(who, tool)),
        1 => (who.clone(), which.clone()).prop_map(|(who, tool)| StoreOperation::Revoke(who, tool)),
        1 => (who.clone(), which.clone(), 0_usize..2)
            .prop_map(|(who, tool, one)| StoreOperation::RevokeOne(who, tool, one)),
        1 => (who.clone(), which).prop_map(|(who, tool)| StoreOperation::Lift(who, tool)),
        1 => who.prop_map(StoreOperation::CleanUp),
        1 => Just(StoreOperation::Reopen),
        1 => Just(StoreOperation::BeginAnew),
        1 => Just(StoreOperation::OtherHandle),
    ]
}

/// Returns the tools whose bits are set, at least one.
fn some(bits: usize) -> Vec<&'static str> {
    TOOLS
        .into_iter()
        .enumerate()
        .filter(|(at, _)| (bits + 1) >> at & 1 == 1)
        .map(|it| it.1)
        .collect()
}

/// Returns the result without the ids of grants, which a new trail file does not reset.
fn plain<E: std::fmt::Debug>(
    done: Result<Option<PermissionChange>, E>,
    refused: impl Fn(E) -> PermissionError,
) -> String {
    let kind = |change: PermissionChange| match change {
        PermissionChange::Answered { granted, denied, .. } => {
            format!("{} {}", granted.len(), denied.len())
        }
        PermissionChange::Spent { uses, .. } => format!("spent {}", uses.len()),
        PermissionChange::Revoked { grants, .. } => format!("revoked {}", grants.len()),
        PermissionChange::Lifted { .. } => "lifted".to_owned(),
        PermissionChange::CleanedUp { .. } => "cleaned".to_owned(),
        other => format!("{other:?}"),
    };
    match done.map_err(refused) {
        Ok(change) => change.map_or("nothing".to_owned(), kind),
        Err(PermissionError::NoGrant(_)) => "no grant".to_owned(),
        Err(PermissionError::Blocked(tool, found)) => format!("{tool} {}", found.state()),
        Err(refused) => refused.to_string(),
    }
}

fn refusal(error: PermissionStoreError) -> PermissionError {
    match error {
        PermissionStoreError::Refused(refused) => refused,
        other => panic!("{other}"),
    }
}

fn nth_grant(
    register: &policies::permissions::PermissionIndex,
    source: &PermissionSource,
    tool: &ToolName,
    nth: usize,
) -> Option<GrantId> {
    register.grants_of(source, tool).and_then(|it| it.grants.get(nth)).map(|it| it.id)
}

struct StorePair {
    disk: PermissionStore,
    memory: InMemoryStore,
    filed: Vec<(FiledRequest, Vec<&'static str>)>,
    nonce: u64,
}

impl StorePair {
    fn take(&mut self, step: &StoreOperation, place: &StoreTestDir) {
        let now = noon();
        let tool_of = |at: &usize| tool(TOOLS[*at]);
        let no = |refused: PermissionError| refused;
        let (on_disk, in_memory) = match step {
            StoreOperation::AddRequest(who, set) => {
                return self.add_request(&source(*who), some(*set));
            }
            StoreOperation::Answer(ago, output, uses) => {
                let at = self.filed.len().checked_sub(ago + 1);
                let Some((filed, tools)) = at.map(|at| self.filed[at].clone()) else { return };
                let of = |bit: u8| -> Vec<&str> {
                    let bits = |at: usize| output >> (at % 2 * 2 + usize::from(bit)) & 1 == 1;
                    tools.iter().enumerate().filter(|(at, _)| bits(*at)).map(|it| *it.1).collect()
                };
                let output = answer(&filed, &of(0), &of(1), *uses);
                let source = filed.ask.source.clone();
                let (disk, memory) = (
                    self.disk.set(&source, &output, &now),
                    self.memory.set(&source, &output, &now),
                );
                (plain(disk.map(Some), refusal), plain(memory.map(Some), no))
            }
            StoreOperation::Spend(who, at) => {
                let requested = calls(&[TOOLS[*at]]);
                let (disk, memory) = (
                    self.disk.spend(&source(*who), &requested, &now),
                    self.memory.spend(&source(*who), &requested, &now),
                );
                (plain(disk, refusal), plain(memory, no))
            }
            StoreOperation::Revoke(who, at) => {
                let (who, tool) = (source(*who), tool_of(at));
                let (disk, memory) = (
                    self.disk.revoke(&who, &tool, None, &now),
                    self.memory.revoke(&who, &tool, None, &now),
                );
                (plain(disk.map(Some), refusal), plain(memory.map(Some), no))
            }
            StoreOperation::RevokeOne(who, at, nth) => {
                let (who, tool) = (source(*who), tool_of(at));
                let disk = nth_grant(self.disk.register().unwrap(), &who, &tool, *nth);
                let memory = nth_grant(self.memory.register(), &who, &tool, *nth);
                assert_eq!(disk.is_some(), memory.is_some());
                let (Some(disk), Some(memory)) = (disk, memory) else { return };
                let disk = self.disk.revoke_grant(disk, &now);
                let memory = self.memory.revoke(&who, &tool, Some(memory), &now);
                (plain(disk.map(Some), refusal), plain(memory.map(Some), no))
            }
            StoreOperation::Lift(who, at) => {
                let (who, tool) = (source(*who), tool_of(at));
                let (disk, memory) = (
                    self.disk.remove_denial(&who, &tool, &now),
                    self.memory.remove_denial(&who, &tool, &now),
                );
                (plain(disk.map(Some), refusal), plain(memory.map(Some), no))
            }
            StoreOperation::CleanUp(who) => {
                let who = source(*who);
                (
                    plain(self.disk.cleanup(&who, &now), refusal),
                    plain(self.memory.cleanup(&who, &now), no),
                )
            }
            StoreOperation::Reopen => {
                self.disk = place.open();
                return;
            }
            StoreOperation::BeginAnew => return self.disk.start_new_trail(&now).unwrap(),
            StoreOperation::OtherHandle => {
                // Changes by another process are visible here.
                let (who, mut other) = (source(0), place.open());
                (
                    plain(other.cleanup(&who, &now), refusal),
                    plain(self.memory.cleanup(&who, &now), no),
                )
            }
        };
        assert_eq!(on_disk, in_memory, "{step:?}");
    }

    fn add_request(&mut self, source: &PermissionSource, tools: Vec<&'static str>) {
        self.nonce += 1;
        let requested = calls(&tools);
        let disk = self.disk.add_request(source, &requested, &noon(), self.nonce).map_err(refusal);
        let memory = self.memory.add_request(source, &requested, &noon(), self.nonce);
        match (disk, memory) {
            (Ok(disk), Ok(memory)) => {
                assert_eq!(disk, memory);
                let is_requested =
                    |it: &&'static str| disk.ask.tools.iter().any(|one| one.tool == tool(it));
                let tools = tools.into_iter().filter(is_requested).collect();
                self.filed.push((disk, tools));
            }
            (disk, memory) => assert_eq!(disk.is_err(), memory.is_err()),
        }
    }

    fn compare(&mut self) {
        for who in 0..3 {
            for name in TOOLS {
                let (who, requested) = (source(who), calls(&[name]));
                let disk = self.disk.get(&who, &requested, &noon()).unwrap();
                assert_eq!(disk, self.memory.get(&who, &requested, &noon()).unwrap());
                let uses = |register: &policies::permissions::PermissionIndex| {
                    let grants = register.grants_of(&who, &tool(name)).cloned();
                    grants.map(|it| {
                        (it.denied, it.grants.iter().map(|it| it.uses_left).collect::<Vec<_>>())
                    })
                };
                assert_eq!(uses(self.disk.register().unwrap()), uses(self.memory.register()));
            }
        }
        let disk = self.disk.register().unwrap().open().count();
        assert_eq!(disk, self.memory.register().open().count());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn the_disk_stands_what_memory_stands(steps in prop::collection::vec(step(), 1..40)) {
        let place = StoreTestDir::new();
        let memory = InMemoryStore::new(PermissionTerms::default());
        let mut pair = StorePair { disk: place.open(), memory, filed: Vec::new(), nonce: 0 };
        for step in &steps {
            pair.take(step, &place);
            pair.compare();
        }
    }
}
