//! Times and their output: percentiles, ratios, and goals.

use std::time::{Duration, Instant};

/// One way to run the tool, and the time of each run.
pub(crate) struct Row<'a> {
    pub(crate) name: String,
    pub(crate) every: usize,
    pub(crate) run: Box<dyn FnMut() -> Duration + 'a>,
    pub(crate) times: LaunchTimes,
}

impl<'a> Row<'a> {
    pub(crate) fn new(name: &str, every: usize, run: impl FnMut() -> Duration + 'a) -> Self {
        Self { name: name.to_owned(), every, run: Box::new(run), times: LaunchTimes::default() }
    }
}

#[derive(Default)]
pub(crate) struct LaunchTimes(Vec<Duration>);

impl LaunchTimes {
    pub(crate) fn add(&mut self, took: Duration) {
        self.0.push(took);
    }

    /// Returns the percentile in microseconds, by nearest rank.
    pub(crate) fn at(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted[rank - 1].as_secs_f64() * 1e6
    }
}

impl Extend<Duration> for LaunchTimes {
    fn extend<T: IntoIterator<Item = Duration>>(&mut self, times: T) {
        self.0.extend(times);
    }
}

pub(crate) fn heading(what: &str, last: &str) {
    println!("\n{what}");
    println!("{:<44} {:>9} {:>9} {:>9} {last:>10}", "", "p50", "p90", "p99");
}

/// Prints a line, with the caller's text in the last column.
pub(crate) fn line(name: &str, times: &LaunchTimes, last: &str) {
    let [p50, p90, p99] = [50, 90, 99].map(|percent| times.at(percent));
    println!("{name:<44} {p50:>9.0} {p90:>9.0} {p99:>9.0} {last:>10}");
}

/// Prints whether `ratio` is within its goal.
pub(crate) fn goal(what: &str, ratio: f64, bound: Bound) {
    let (met, words) = match bound {
        Bound::AtMost(goal) => (ratio <= goal, format!("at most {goal}")),
        Bound::AtLeast(goal) => (ratio >= goal, format!("at least {goal}")),
    };
    println!("{what:<60} {ratio:>6.2}  goal {words}: {}", if met { "met" } else { "MISSED" });
}

#[derive(Clone, Copy)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

pub(crate) fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<_> = figures.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

pub(crate) fn timed(act: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    act();
    begun.elapsed()
}
