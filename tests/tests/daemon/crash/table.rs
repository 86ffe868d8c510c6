//! The table of failpoints: arrivals, kills and faults of each.

use std::collections::BTreeMap;

use super::crash_run::{CrashRunResult, KillPoint};

#[derive(Default)]
struct FailpointRow {
    reached: u32,
    kills: usize,
    in_recovery: usize,
    faults: Vec<String>,
}

pub(crate) struct FailpointTable {
    names: Vec<String>,
    rows: BTreeMap<String, FailpointRow>,
    unknown: Vec<String>,
}

impl FailpointTable {
    pub(crate) fn new(names: Vec<String>) -> Self {
        let rows = names.iter().map(|name| (name.clone(), FailpointRow::default())).collect();
        Self { names, rows, unknown: Vec::new() }
    }

    /// Adds the arrivals of a daemon without kills.
    pub(crate) fn add_arrivals(&mut self, arrivals: &BTreeMap<String, u32>) {
        for (name, times) in arrivals {
            match self.rows.get_mut(name) {
                Some(row) => row.reached += times,
                None => self.unknown.push(name.clone()),
            }
        }
    }

    pub(crate) fn add_kill(&mut self, kill: &KillPoint, played: &CrashRunResult) {
        let row = self.rows.get_mut(&kill.point).unwrap();
        row.kills += played.kills;
        // A run with a kill may have fewer arrivals than one without, because of races.
        let described = |fault: &String| format!("{}:{}: {fault}", kill.point, kill.nth);
        row.faults.extend(played.faults.iter().map(described));
    }

    pub(crate) fn add_recovery_kill(
        &mut self,
        kill: &KillPoint,
        after: &KillPoint,
        played: &CrashRunResult,
    ) {
        let row = self.rows.get_mut(&kill.point).unwrap();
        row.in_recovery += usize::from(played.kills == 2);
        let (first, second) = (&after.point, &kill.point);
        let (one, two) = (after.nth, kill.nth);
        let described = |fault: &String| format!("{first}:{one}, then {second}:{two}: {fault}");
        row.faults.extend(played.faults.iter().map(described));
    }

    pub(crate) fn print(&self) {
        println!("{:<20} {:>8} {:>6} {:>12}  verdict", "place", "come to", "kills", "in recovery");
        for name in &self.names {
            let row = &self.rows[name];
            let verdict = match (row.faults.len(), row.kills + row.in_recovery) {
                (0, 0) => "never killed".to_owned(),
                (0, _) => "ok".to_owned(),
                (faults, _) => format!("{faults} FAULTS"),
            };
            println!(
                "{name:<20} {:>8} {:>6} {:>12}  {verdict}",
                row.reached, row.kills, row.in_recovery
            );
        }
        let kills: usize = self.rows.values().map(|row| row.kills).sum();
        let twice: usize = self.rows.values().map(|row| row.in_recovery).sum();
        println!("{kills} kills, and {twice} more in the recovery from one");
    }

    /// Returns the faults of the spools and of the list of failpoints.
    pub(crate) fn faults(&self, elsewhere: &[&str]) -> Vec<String> {
        let mut faults: Vec<String> =
            self.unknown.iter().map(|name| format!("{name} is not in the source")).collect();
        let only = std::env::var("TOOLEXEC_CRASH_ONLY").ok();
        for name in &self.names {
            let row = &self.rows[name];
            let selected = only.as_ref().is_none_or(|only| only == name);
            let excused = elsewhere.contains(&name.as_str());
            if row.kills + row.in_recovery == 0 && selected && !excused {
                faults.push(format!("{name}: nothing came to it, or nobody died of it"));
            }
            if row.reached > 0 && excused {
                faults.push(format!("{name}: is come to; take it out of ELSEWHERE"));
            }
            faults.extend(row.faults.iter().cloned());
        }
        faults
    }
}
