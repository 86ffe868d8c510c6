//! A person at a browser with a passkey.

use std::time::Duration;

use serde_json::{Value, json};
use toolexec_tests::{Browser, RequestText, ssh_keygen_works};

use super::scene::ConsoleScene;

pub(super) const DONE: &str =
    "document.getElementById('status')?.textContent.startsWith('Done: ') === true";
const IDLE: &str = "document.body?.dataset.working === undefined";

pub(super) struct ApproverPage<'s> {
    pub(super) browser: Browser,
    pub(super) scene: &'s ConsoleScene<'s>,
    device: String,
    origin: String,
}

impl<'s> ApproverPage<'s> {
    /// Starts a browser with a device for passkeys, or logs a skip.
    pub(super) fn start(scene: &'s ConsoleScene<'s>, test: &str) -> Option<Self> {
        Self::start_with(scene, test, &[])
    }

    /// Starts a browser with more options.
    pub(super) fn start_with(
        scene: &'s ConsoleScene<'s>,
        test: &str,
        options: &[&str],
    ) -> Option<Self> {
        if !ssh_keygen_works(test) {
            return None;
        }
        let browser = Browser::start_with(scene.bench, test, options)?;
        let options = json!({ "options": {
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": true,
            "hasUserVerification": true, "isUserVerified": true,
            "automaticPresenceSimulation": true,
        }});
        let device = browser.call("WebAuthn.addVirtualAuthenticator", options);
        let device = device["authenticatorId"].as_str().unwrap().to_owned();
        let origin = scene.console.origin();
        Some(Self { browser, scene, device, origin })
    }

    /// Starts a browser whose passkey is the one of `alice`, which daemon and console trust.
    pub(super) fn enrolled(scene: &'s ConsoleScene<'s>, test: &str) -> Option<Self> {
        let page = Self::start(scene, test)?;
        let line = page.enrol("alice");
        scene.trust(&line);
        Some(page)
    }

    /// Makes a passkey, and returns its line of `allowed_signers`.
    #[track_caller]
    pub(super) fn enrol(&self, name: &str) -> String {
        self.open("/enrol");
        self.script(&format!("document.querySelector('[name=principal]').value = '{name}'"));
        self.click("#enrol-form button");
        self.browser.wait_for("document.getElementById('enrol-result').hidden === false");
        self.text_of("#enrol-line")
    }

    /// Opens the pages of another console from now on.
    pub(super) fn use_origin(&mut self, origin: String) {
        self.origin = origin;
    }

    /// Opens a page of the console, and waits for its script.
    #[track_caller]
    pub(super) fn open(&self, path: &str) {
        self.browser.navigate(&format!("{}{path}", self.origin));
        self.browser.wait_for(&format!(
            "location.pathname + location.search === '{path}'
             && document.body?.dataset.ready === 'true'"
        ));
    }

    /// Selects drafts on the first page, and opens the page of the batch.
    #[track_caller]
    pub(super) fn select(&self, ids: &[String]) {
        self.open("/");
        for id in ids {
            self.click(&format!("input[name=ids][value=\"{id}\"]"));
        }
        self.click("form.selection button");
        self.browser
            .wait_for("location.pathname === '/batch' && document.body?.dataset.ready === 'true'");
    }

    /// Selects drafts on the first page, and opens every section on the page of the batch.
    #[track_caller]
    pub(super) fn open_batch(&self, ids: &[String]) {
        self.select(ids);
        let closed = "document.querySelectorAll('details.draft:not([open]) > summary')";
        self.script(&format!("{{ for (const one of {closed}) one.click(); }}"));
        self.browser
            .wait_for("document.querySelector('details.draft:not([data-opened])') === null");
    }

    /// Presses the Tab key until the focus is on an element, which must show it.
    #[track_caller]
    pub(super) fn tab_to(&self, selector: &str) {
        for _ in 0..60 {
            self.browser.press_key("Tab");
            let found = self.script(&format!("document.activeElement.matches('{selector}')"));
            if found == true {
                let outline = self.script("getComputedStyle(document.activeElement).outlineStyle");
                assert_ne!(outline.as_str(), Some("none"), "{selector}");
                return;
            }
        }
        panic!("the focus never reaches {selector}");
    }

    #[track_caller]
    pub(super) fn script(&self, script: &str) -> Value {
        self.browser.evaluate(script)
    }

    #[track_caller]
    pub(super) fn click(&self, selector: &str) {
        self.script(&format!("document.querySelector('{selector}').click()"));
    }

    #[track_caller]
    pub(super) fn text_of(&self, selector: &str) -> String {
        let text = self.script(&format!("document.querySelector('{selector}').textContent"));
        text.as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(super) fn status(&self) -> String {
        self.text_of("#status")
    }

    /// Presses the button of an action, and waits for the text that will be signed.
    #[track_caller]
    pub(super) fn begin(&self, action: &str) {
        let name = "const named = [...document.querySelectorAll('form.action select[name=by]')];
            for (const one of named) one.value = 'alice';";
        self.script(&format!("{{ {name} }}"));
        self.click(&format!("form.action[data-action={action}] button"));
        self.browser.wait_for("document.getElementById('confirm').open");
    }

    /// Presses the button of an action, and confirms. Waits for no result.
    #[track_caller]
    pub(super) fn confirm(&self, action: &str) {
        self.begin(action);
        self.click("#confirm-yes");
    }

    /// Performs an action on the present page, and waits until the daemon has taken it.
    #[track_caller]
    pub(super) fn perform(&self, action: &str) {
        self.confirm(action);
        self.browser.wait_for(DONE);
    }

    /// Waits until the page has given up, and returns its message.
    #[track_caller]
    pub(super) fn message(&self) -> String {
        self.browser.wait_for(IDLE);
        self.status()
    }

    /// Places the draft of a request that prints a text, and opens its page.
    #[track_caller]
    pub(super) fn open_draft(&self, text: &str) -> String {
        let id = self.scene.draft(RequestText::python(&format!("print('{text}')"))).id;
        self.open(&format!("/requests/{id}"));
        id
    }

    /// Returns how often the device has signed.
    pub(super) fn touches(&self) -> usize {
        self.browser.events("WebAuthn.credentialAsserted").len()
    }

    /// Makes the device accept no finger.
    pub(super) fn refuse_fingers(&self) {
        let options = json!({ "authenticatorId": self.device, "isUserVerified": false });
        self.browser.call("WebAuthn.setUserVerified", options);
    }

    /// Makes the device wait for a touch that never comes.
    pub(super) fn stop_touching(&self) {
        let options = json!({ "authenticatorId": self.device, "enabled": false });
        self.browser.call("WebAuthn.setAutomaticPresenceSimulation", options);
        std::thread::sleep(Duration::from_millis(100));
    }

    /// Runs a script for each request of the page: `path` and `options` are those of `fetch`, which
    /// is called `send`. The page then acts as one that an attacker serves.
    #[track_caller]
    pub(super) fn replace_fetch(&self, body: &str) {
        self.script(&format!(
            "{{ const send = window.fetch; window.fetch = async (path, options) => {{ {body} }}; }}"
        ));
    }

    /// Has an action on the present page signed, and keeps the signature. Returns the header of the
    /// action and its signature.
    #[track_caller]
    pub(super) fn sign_undelivered(&self, action: &str) -> (String, String) {
        self.replace_fetch(
            "if (path !== '/actions') return send(path, options);
             window.kept = JSON.parse(options.body);
             return new Promise(() => {});",
        );
        self.confirm(action);
        self.browser.wait_for("window.kept !== undefined");
        let kept = self.script("window.kept");
        let part = |name: &str| kept[name].as_str().unwrap().to_owned();
        (part("prepared"), part("signature"))
    }
}
