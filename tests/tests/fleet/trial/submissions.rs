//! The requests of the trial, and the clients that submit them. Every fourth request is submitted
//! by two clients.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use toolexec_tests::slowdown::time_factor;
use toolexec_tests::{Bench, CliOutput, RequestText, TestFleet};

pub(super) const CLIENTS: usize = 3;
const BATCH: usize = 8;
const REPEATED_EVERY: usize = 4;
/// One in this many requests has an input for the store.
const LARGE_EVERY: usize = 100;
const LARGE_BYTES: usize = 1_200_000;
const SCRIPT: &str = "the tool does not read it";
/// The audiences in turn; the empty one is none.
const AUDIENCES: [&str; 8] = ["", "farm", "", "cpu", "", "gpu", "farm", "host-c"];
/// A database that is restarted answers again within this time.
const AWAY_MAX: Duration = Duration::from_secs(120);

/// The files of all requests.
pub(super) struct TrialRequests<'a> {
    client: &'a Bench,
    place: PathBuf,
    database: String,
    store: String,
    pub(super) ids: Vec<String>,
}

impl<'a> TrialRequests<'a> {
    /// Writes the files.
    pub(super) fn prepare(fleet: &TestFleet<'_>, client: &'a Bench, count: usize) -> Self {
        let place = client.scratch().dir("trial");
        let large = vec![b'x'; LARGE_BYTES];
        let plain = RequestText::python(SCRIPT);
        let name = fleet.counted.run_argument(&plain.id);
        let plain = plain.command(&format!("python script.py {name}"));
        let text = plain.text();
        let with_large = plain.input("large.bin", &large);
        let (id_in_text, large_text) = (with_large.id.clone(), with_large.text());
        let ids: Vec<String> = (0..count).map(|number| format!("{id_in_text}-{number}")).collect();
        for (number, id) in ids.iter().enumerate() {
            fleet.counted.expect(id);
            let is_large = number % LARGE_EVERY == 0;
            let text = if is_large { &large_text } else { &text };
            let text = for_audience(&text.replace(&id_in_text, id), AUDIENCES[number % 8]);
            fs::write(place.join(format!("{id}.md")), text).unwrap();
            write_inputs(&place.join(format!("{id}.inputs")), is_large.then_some(&large));
        }
        let store = format!("file://{}", client.scratch().dir("store").display());
        Self { client, place, database: fleet.database.url("alice"), store, ids }
    }

    /// Submits the share of a client, and some requests of another one. Returns the number of
    /// requests that another client had submitted before.
    pub(super) fn submit_as(&self, client: usize) -> usize {
        let is_mine = |number: usize| {
            let of_another =
                number.is_multiple_of(REPEATED_EVERY) && (number + 1) % CLIENTS == client;
            number % CLIENTS == client || of_another
        };
        let numbers = (0..self.ids.len()).filter(|number| is_mine(*number));
        let mine: Vec<&String> = numbers.map(|number| &self.ids[number]).collect();
        mine.chunks(BATCH).map(|batch| self.submit_batch(batch)).sum()
    }

    /// Submits some requests, again and again until the database has all of them.
    fn submit_batch(&self, ids: &[&String]) -> usize {
        let mut paths: Vec<String> = Vec::new();
        for id in ids {
            paths.push(self.place.join(format!("{id}.md")).to_str().unwrap().to_owned());
        }
        let fixed = ["submit", "--fleet", &self.database, "--store", &self.store];
        let begun = Instant::now();
        let mut seen_before = BTreeSet::new();
        let mut is_first = true;
        loop {
            let words = fixed.iter().copied().chain(paths.iter().map(String::as_str));
            let output = self.client.toolexec(words);
            if is_first {
                let known = output.stdout.lines().filter(|it| it.contains("already in the fleet"));
                seen_before.extend(known.map(str::to_owned));
                is_first = false;
            }
            if output.code == Some(0) {
                return seen_before.len();
            }
            assert_is_momentary(&output);
            assert!(begun.elapsed() < AWAY_MAX * time_factor(), "{output:#?}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

/// A client fails only because the database is away.
fn assert_is_momentary(output: &CliOutput) {
    output.assert_code(3);
    assert!(output.stderr.contains("database"), "{output:#?}");
}

fn for_audience(text: &str, audience: &str) -> String {
    match audience {
        "" => text.to_owned(),
        _ => text.replacen(
            "constraints:\n",
            &format!("x-audience: \"{audience}\"\nconstraints:\n"),
            1,
        ),
    }
}

fn write_inputs(directory: &Path, large: Option<&Vec<u8>>) {
    fs::create_dir(directory).unwrap();
    fs::write(directory.join("script.py"), SCRIPT).unwrap();
    if let Some(bytes) = large {
        fs::write(directory.join("large.bin"), bytes).unwrap();
    }
}
