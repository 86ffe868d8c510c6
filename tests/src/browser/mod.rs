//! A headless Chromium with one page.

mod pipe;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bench::Bench;
use crate::skip;
use crate::slowdown::time_factor;
use pipe::DevToolsPipe;

const WAIT: Duration = Duration::from_secs(30);
/// The protocol uses the descriptors 3 and 4.
const START: &str = "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null";
const OPTIONS: [&str; 11] = [
    "--headless",
    // It does not start as root otherwise. It opens pages of the tests only.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1280,900",
    "--remote-debugging-pipe",
];

/// Returns the browser of this host, if one is installed.
#[must_use]
pub fn chromium() -> Option<PathBuf> {
    let places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    places.into_iter().map(PathBuf::from).find(|place| place.is_file())
}

/// A browser with one page. It ends with the test.
pub struct Browser {
    child: Child,
    pipe: DevToolsPipe,
    session: Option<String>,
    profile: PathBuf,
}

impl Browser {
    /// Starts the browser. Logs a skip and returns `None` if none is installed.
    #[must_use]
    pub fn start(bench: &Bench, test: &str) -> Option<Self> {
        Self::start_with(bench, test, &[])
    }

    /// Starts the browser with more options. Logs a skip and returns `None` if none is installed.
    #[must_use]
    pub fn start_with(bench: &Bench, test: &str, options: &[&str]) -> Option<Self> {
        let Some(program) = chromium() else {
            skip(test, "chromium is not installed (apt-get install chromium)");
            return None;
        };
        let profile = bench.home().join("browser");
        let mut command = bench.command("bash");
        command.args(["-c", START, "browser"]).arg(program).args(OPTIONS).args(options);
        command.arg(format!("--user-data-dir={}", profile.display())).arg("about:blank");
        let log = File::create(bench.home().join("browser.log")).unwrap();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().unwrap();
        let pipe = DevToolsPipe::of(&mut child);
        let mut browser = Self { child, pipe, session: None, profile };
        browser.attach();
        Some(browser)
    }

    fn attach(&mut self) {
        let targets = self.call("Target.getTargets", json!({}));
        let targets = targets["targetInfos"].as_array().unwrap();
        let page = targets.iter().find(|target| target["type"] == "page").unwrap();
        let target = json!({ "targetId": page["targetId"], "flatten": true });
        let attached = self.call("Target.attachToTarget", target);
        self.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Log", "WebAuthn"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
    }

    /// Calls a method of the DevTools protocol for the page, and returns its result.
    ///
    /// # Panics
    /// Panics if the method fails, or does not answer in time.
    #[track_caller]
    pub fn call(&self, method: &str, parameters: Value) -> Value {
        let result = self.pipe.call(self.session.as_deref(), method, parameters);
        result.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Runs a script in the page as if the person had clicked, and returns its value. A promise is
    /// awaited.
    ///
    /// # Panics
    /// Panics if the script throws.
    #[track_caller]
    pub fn evaluate(&self, script: &str) -> Value {
        self.try_evaluate(script).unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    fn try_evaluate(&self, script: &str) -> Result<Value, String> {
        let parameters = json!({
            "expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": true,
        });
        let answer = self.pipe.call(self.session.as_deref(), "Runtime.evaluate", parameters)?;
        match answer.get("exceptionDetails") {
            Some(details) => Err(details.to_string()),
            None => Ok(answer["result"]["value"].clone()),
        }
    }

    /// Waits until a script returns true. A page that is being replaced runs none for a moment.
    ///
    /// # Panics
    /// Panics if it does not in time.
    #[track_caller]
    pub fn wait_for(&self, script: &str) {
        let begun = Instant::now();
        loop {
            let value = self.try_evaluate(script);
            if value == Ok(json!(true)) {
                return;
            }
            if begun.elapsed() > WAIT * time_factor() {
                let shown = self.try_evaluate("location.href + '\\n' + document.body.innerText");
                panic!("{script}: {value:?}\n{shown:?}\n{:?}", self.errors());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Opens an address, and returns when the answer has replaced the page.
    #[track_caller]
    pub fn navigate(&self, url: &str) {
        let answer = self.call("Page.navigate", json!({ "url": url }));
        assert!(answer.get("errorText").is_none(), "{url}: {answer}");
    }

    /// Presses a key: `Tab`, `Enter`, `Space` or `Escape`.
    ///
    /// # Panics
    /// Panics on any other name.
    #[track_caller]
    pub fn press_key(&self, name: &str) {
        let (key, text, number) = match name {
            "Tab" => ("Tab", "", 9),
            "Enter" => ("Enter", "\r", 13),
            "Space" => (" ", " ", 32),
            "Escape" => ("Escape", "", 27),
            other => panic!("no key {other}"),
        };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let event = json!({
                "type": kind, "key": key, "code": name, "text": text,
                "windowsVirtualKeyCode": number,
            });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Returns the events of one method so far.
    #[must_use]
    pub fn events(&self, method: &str) -> Vec<Value> {
        // The answer to a command follows the events before it.
        self.call("Runtime.evaluate", json!({ "expression": "0" }));
        self.pipe.events(method)
    }

    /// Returns the errors that the browser has logged: exceptions, failed loads, and violations of
    /// the policy of a page.
    #[must_use]
    pub fn errors(&self) -> Vec<String> {
        let mut found = self.events("Runtime.exceptionThrown");
        let entries = self.events("Log.entryAdded").into_iter();
        found.extend(entries.filter(|it| it["entry"]["level"] == "error"));
        let calls = self.events("Runtime.consoleAPICalled").into_iter();
        found.extend(calls.filter(|it| it["type"] == "error"));
        found.iter().map(Value::to_string).collect()
    }

    /// Sets the size of the window in CSS pixels.
    pub fn resize(&self, width: u32, height: u32) {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Writes a picture of the window as PNG.
    pub fn screenshot(&self, file: &Path) {
        let picture = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let mut decoder = Command::new("base64");
        decoder.arg("-d").stdin(Stdio::piped()).stdout(File::create(file).unwrap());
        let mut decoder = decoder.spawn().unwrap();
        let mut input = decoder.stdin.take().unwrap();
        input.write_all(picture["data"].as_str().unwrap().as_bytes()).unwrap();
        drop(input);
        assert!(decoder.wait().unwrap().success());
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let begun = Instant::now();
        // A browser that has crashed does not take it.
        let closed = self.pipe.send(None, "Browser.close", json!({})).is_ok();
        while closed && begun.elapsed() < Duration::from_secs(5) {
            if self.child.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        // It may have ended already.
        self.child.kill().unwrap_or_default();
        self.child.wait().unwrap();
        // Its last processes may still write.
        while self.profile.exists() && begun.elapsed() < Duration::from_secs(20) {
            if fs::remove_dir_all(&self.profile).is_err() {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }
}
