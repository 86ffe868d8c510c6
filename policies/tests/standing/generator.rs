//! Standing approvals and requests at random, and small changes of them.

use model::Sha256;

use super::scene::{StandingCase, TestRequest, environment};

/// A deterministic source of cases.
pub(super) struct Generator(u64);

impl Generator {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `count` (splitmix64).
    pub(super) fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(count).unwrap()).unwrap()
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    pub(super) fn standing(&mut self) -> StandingCase {
        let mut case = StandingCase::means();
        case.subject = self.pick(&[None, Some("wf-1".to_owned())]);
        case.environment = self.pick(&[None, Some(environment("charts", "1"))]);
        case.hosts =
            self.pick(&[vec![], vec!["a.example".to_owned()], vec!["a.example:8443".to_owned()]]);
        case.cpu = self.pick(&["1", "0.5", "2"]);
        (case.memory_mb, case.time_sec) = (self.pick(&[256, 512]), self.pick(&[30, 60]));
        case.inputs_bytes_max = self.pick(&[9 << 20, 5000, 4700]);
        case.sensitivity = self.pick(&["public", "internal", "confidential"]);
        if self.below(4) == 0 {
            case.inputs = case.inputs.replace("sales-*.csv", "m*");
            (case.runs_code, case.risk) = (true, "medium");
        }
        let (least, most) = self.pick(&[(1, 3650), (-5, 5), (0, 9), (7, 7)]);
        case.parameters = format!(
            "[{{\"name\": \"last\", \"integer\": [{least}, {most}]}}, {{\"name\": \"column\", \
             \"text\": \"identifier\", \"chars_max\": {}}}, {{\"name\": \"by\", \"choice\": \
             [\"day\", \"week\", \"1.5\"]}}, {{\"name\": \"when\", \"text\": \"date\", \
             \"chars_max\": 10}}, {{\"name\": \"list\", \"text\": \"number-list\", \"chars_max\": \
             {}}}]",
            self.pick(&[1, 8, 32]),
            self.pick(&[3, 20]),
        );
        if least <= 7 && 7 <= most {
            case.words = ["python", "means.py"].map(str::to_owned).to_vec();
        }
        if !(least..=most).contains(&7) {
            case.parameters = case.parameters.replace(&format!("[{least}, {most}]"), "[-9, 9]");
            case.words = ["python", "means.py"].map(str::to_owned).to_vec();
        }
        for value in ["{in:table}", "{last}", "{column}", "{by}", "{when}", "{list}"] {
            let beginning = self.pick(&["", "--a=", "b="]);
            case.words.push(format!("{beginning}{value}"));
            // A value that two words have.
            if self.below(4) == 0 {
                case.words.push(value.to_owned());
            }
        }
        case
    }

    /// Returns a request that the standing approval mostly admits.
    pub(super) fn request(&mut self, case: &StandingCase) -> TestRequest {
        let mut request = TestRequest::means();
        let file = if case.inputs.contains("sales-") {
            self.pick(&["sales-1.csv", "sales-a_b.csv", "sales-2026-02.csv"])
        } else {
            self.pick(&["m1", "m-a.txt", "mm"])
        };
        file.clone_into(&mut request.inputs[1].0);
        let (last, column) =
            (self.pick(&["7", "0", "5", "-5", "9", "3650"]), self.pick(&["a", "A_9", "_x"]));
        let (by, when) =
            (self.pick(&["day", "week", "1.5"]), self.pick(&["2026-02-09", "2024-02-29"]));
        let list = self.pick(&["1", "0", "1,2", "10,0,7"]);
        let last = if self.below(3) == 0 { last } else { "7" };
        request.words = case
            .words
            .iter()
            .map(|word| {
                word.replace("{in:table}", &format!("/in/{file}"))
                    .replace("{last}", last)
                    .replace("{column}", column)
                    .replace("{by}", by)
                    .replace("{when}", when)
                    .replace("{list}", list)
            })
            .collect();
        request.environment = case.environment.clone();
        request.cpu = case.cpu.to_owned();
        (request.memory_mb, request.time_sec) = (case.memory_mb, case.time_sec);
        (request.risk, request.sensitivity) = (case.risk, case.sensitivity);
        if self.below(2) == 0 {
            request.hosts = case.hosts.clone();
        }
        request
    }

    /// Changes one value of a request.
    pub(super) fn mutate(&mut self, request: &mut TestRequest) {
        match self.below(17) {
            0..=4 => self.mutate_word(request),
            5 => request.words.push(self.pick(&["x", "7", "day"]).to_owned()),
            6 => {
                request.words.pop();
            }
            7 => self.mutate_input(request),
            8 => request.cpu = self.pick(&["0.5", "1", "1.001", "2", "3"]).to_owned(),
            9 => request.memory_mb = self.pick(&[1, 256, 257, 512, 513]),
            10 => request.time_sec = self.pick(&[1, 30, 31, 60, 61]),
            11 => {
                request.hosts =
                    vec![self.pick(&["a.example", "a.example:8443", "b.example"]).to_owned()]
            }
            12 => request.risk = self.pick(&["low", "medium", "high"]),
            13 => request.sensitivity = self.pick(&["public", "internal", "confidential"]),
            14 => match self.below(5) {
                0 => request.agent = None,
                1 => request.agent = Some(("fetch".to_owned(), "wf-1".to_owned())),
                2 => request.agent = Some(("core".to_owned(), "wf-2".to_owned())),
                3 => request.audience = self.pick(&[None, Some("desk-2".to_owned())]),
                _ => "alice".clone_into(&mut request.approved_by),
            },
            15 => {
                request.environment = self.pick(&[
                    None,
                    Some(environment("charts", "1")),
                    Some(environment("charts", "2")),
                    Some(environment("plots", "1")),
                ])
            }
            _ => match self.below(4) {
                0 => request.outputs.push("b.json".to_owned()),
                1 => request.outputs.clear(),
                2 => request.constraints.push("Be quick".to_owned()),
                _ => {
                    request.constraints.pop();
                }
            },
        }
    }

    fn mutate_word(&mut self, request: &mut TestRequest) {
        const VALUES: [&str; 34] = [
            "",
            "-",
            "--x",
            "+7",
            "07",
            "7.0",
            "0x7",
            "7e0",
            " 7",
            "7 ",
            "\u{667}",
            "8",
            "-0",
            "-5",
            "-6",
            "3650",
            "3651",
            "9223372036854775808",
            "a b",
            "A",
            "a;b",
            "{last}",
            "day",
            "Day",
            "1.5",
            "2026-02-30",
            "2026-2-9",
            "20260209",
            "1,,2",
            "01,2",
            ",1",
            "/in/x",
            "aaaaaaaaa",
            "\u{430}",
        ];
        if request.words.is_empty() {
            return;
        }
        let at = self.below(request.words.len());
        let word = request.words[at].clone();
        let value = self.pick(&VALUES);
        request.words[at] = match self.below(4) {
            0 => value.to_owned(),
            1 => match word.split_once('=') {
                Some((beginning, _)) => format!("{beginning}={value}"),
                None => value.to_owned(),
            },
            2 => format!("{word}{}", self.pick(&["x", "=", " ", "0", ",1"])),
            _ => {
                let other = self.below(request.words.len());
                request.words.swap(at, other);
                return;
            }
        };
    }

    fn mutate_input(&mut self, request: &mut TestRequest) {
        let last = request.inputs.len().saturating_sub(1);
        match self.below(7) {
            0 => request.add(self.pick(&["sales-9.csv", "pandas.py", "MEANS.py", "m9"]), 7),
            1 => {
                request.inputs.pop();
            }
            2 => request.inputs[0].1 = Sha256::of(b"other"),
            3 => {
                request.inputs[last].2 =
                    self.pick(&[Some(0), Some(4000), Some(4301), Some(9 << 20), None])
            }
            4 => {
                let name =
                    self.pick(&["sales-.csv", "sales-x.CSV", "sales-..csv", "people.csv", "m"]);
                name.clone_into(&mut request.inputs[last].0);
            }
            5 => request.inputs.swap(0, last),
            _ => request.inputs[0].2 = self.pick(&[None, Some(8 << 20), Some(800)]),
        }
    }
}
