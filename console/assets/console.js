// Signs with a passkey, and follows the queue and the output of a running tool. The server's HTML
// works without this script, except for signing. It must never make markup from text.

const NAMESPACE_HASH = "sha512";
const SIGNATURE_TYPE = "webauthn-sk-ecdsa-sha2-nistp256@openssh.com";
const KEY_TYPE = "sk-ecdsa-sha2-nistp256@openssh.com";
const CURVE = "nistp256";
const ES256 = -7;
const POINT_BYTES = 65;
// RP id hash, flags, counter: what follows is extension data.
const AUTHENTICATOR_BYTES = 37;
const USER_ID_BYTES = 32;
const ARMOUR_COLUMNS = 70;
const ANSWER_TRIES = 100;
const ANSWER_PAUSE_MS = 100;
const OUTPUT_CHARS_MAX = 1_000_000;
// A reader this near to the end of the output follows it.
const FOLLOW_PIXELS = 40;
// The message that the queue shows for some time, also after it has reloaded itself.
const KEPT_MESSAGE = "message";
const KEPT_MS = 5000;
// As one word of allowed_signers.
const PRINCIPAL = /^[^\s"',!*?#]+$/u;
// Characters that show nothing, or change the order of what is shown.
const DECEPTIVE = /[^\P{C}\n\t]|[^\P{Z} ]|\p{Default_Ignorable_Code_Point}|\u2800/gu;

const encoder = new TextEncoder();

// --- bytes -----------------------------------------------------------------------

function concat(...parts) {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const joined = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function uint32(value) {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

// A string of the SSH wire format (RFC 4251, section 5).
function sshString(value) {
  const bytes = typeof value === "string" ? encoder.encode(value) : value;
  return concat(uint32(bytes.length), bytes);
}

// A positive mpint of the SSH wire format, from bytes in big-endian order.
function sshMpint(bytes) {
  let start = 0;
  while (start < bytes.length && bytes[start] === 0) start += 1;
  const trimmed = bytes.subarray(start);
  const needsZero = trimmed.length > 0 && (trimmed[0] & 0x80) !== 0;
  return sshString(needsZero ? concat(new Uint8Array(1), trimmed) : trimmed);
}

function base64(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

function base64url(bytes) {
  return base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64url(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (character) => character.charCodeAt(0));
}

// The text with deceptive characters written as escapes.
function revealed(text) {
  const escape = (character) => `\\u{${character.codePointAt(0).toString(16)}}`;
  return text.replace(DECEPTIVE, escape);
}

function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function digest(algorithm, bytes) {
  return new Uint8Array(await crypto.subtle.digest(algorithm, bytes));
}

// --- SSH signatures --------------------------------------------------------------

// The text that an SSH signature covers (PROTOCOL.sshsig). As a WebAuthn challenge it makes the
// assertion an SSH signature.
async function signedBlob(namespace, message) {
  const hash = await digest("SHA-512", message);
  const fields = [namespace, "", NAMESPACE_HASH, hash].map(sshString);
  return concat(encoder.encode("SSHSIG"), ...fields);
}

// Returns the two numbers of an ECDSA signature in DER.
function numbersOfDer(der) {
  const malformed = () => new Error("the authenticator's signature is malformed");
  const number = (at) => {
    const length = der[at + 1];
    if (der[at] !== 0x02 || length === undefined || at + 2 + length > der.length) throw malformed();
    return { bytes: der.subarray(at + 2, at + 2 + length), end: at + 2 + length };
  };
  if (der[0] !== 0x30 || der[1] !== der.length - 2) throw malformed();
  const r = number(2);
  const s = number(r.end);
  if (s.end !== der.length) throw malformed();
  return [r.bytes, s.bytes];
}

// Returns the armoured signature file of an assertion.
function armour(publicKey, namespace, response) {
  const data = new Uint8Array(response.authenticatorData);
  const [r, s] = numbersOfDer(new Uint8Array(response.signature));
  const clientData = new Uint8Array(response.clientDataJSON);
  const origin = JSON.parse(new TextDecoder().decode(clientData)).origin;
  const signature = concat(
    sshString(SIGNATURE_TYPE),
    sshString(concat(sshMpint(r), sshMpint(s))),
    data.subarray(32, AUTHENTICATOR_BYTES),
    sshString(origin),
    sshString(clientData),
    sshString(data.subarray(AUTHENTICATOR_BYTES)),
  );
  const fields = [publicKey, namespace, "", NAMESPACE_HASH, signature].map(sshString);
  const text = base64(concat(encoder.encode("SSHSIG"), uint32(1), ...fields));
  const lines = text.match(new RegExp(`.{1,${ARMOUR_COLUMNS}}`, "g")) ?? [];
  return ["-----BEGIN SSH SIGNATURE-----", ...lines, "-----END SSH SIGNATURE-----", ""].join("\n");
}

// Returns the public key of a new credential in the SSH wire format. `spki` ends in the point.
function publicKeyOf(spki, rpId) {
  const point = new Uint8Array(spki).slice(-POINT_BYTES);
  if (point[0] !== 0x04) throw new Error("the authenticator made a key of another kind");
  return concat(...[KEY_TYPE, CURVE, point, rpId].map(sshString));
}

// --- the page --------------------------------------------------------------------

function say(text, place = "status") {
  const status = document.getElementById(place);
  if (status) status.textContent = text;
}

// The drafts of a batch are gone then. The queue shows the message.
function sayDone(text) {
  say(text);
  if (document.body.dataset.page !== "batch") return;
  sessionStorage.setItem(KEPT_MESSAGE, JSON.stringify([text, Date.now() + KEPT_MS]));
  location.assign("/");
}

function sayKept() {
  const [text, end] = JSON.parse(sessionStorage.getItem(KEPT_MESSAGE) ?? "[]");
  if (Date.now() < end) say(text);
}

async function post(path, body) {
  const answer = await fetch(path, {
    method: "POST",
    redirect: "error",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  // A refusal may be a page.
  const value = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(value.error ?? `the console answered with ${answer.status}`);
  return value;
}

// Shows the exact text that will be signed. Resolves to whether the approver goes on.
function confirmed(prepared) {
  const dialog = document.getElementById("confirm");
  const { documents } = prepared;
  const show = (id, text) => {
    document.getElementById(id).textContent = text;
  };
  show("confirm-text", revealed(prepared.text));
  show("confirm-digest", documents.map((row) => `${row.sha256}  ${row.id}`).join("\n"));
  show("confirm-words", documents.map((row) => row.words.join(" ")).join("\n"));
  return new Promise((resolve) => {
    let answer = false;
    document.getElementById("confirm-yes").onclick = () => {
      answer = true;
      dialog.close();
    };
    document.getElementById("confirm-no").onclick = () => dialog.close();
    // However it is closed: the Escape key needs no button.
    dialog.onclose = () => resolve(answer);
    dialog.showModal();
  });
}

// What is shown must be what is signed: the bytes of one document or order, or a list that names the
// digest of each document.
async function checkShown({ documents, text }, message) {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  if (decoder.decode(message) !== text) throw new Error("the text is not what would be signed");
  if (documents.length === 1) {
    const found = hex(await digest("SHA-256", message));
    if (found !== documents[0].sha256) throw new Error("the digest is of another text");
    return;
  }
  const list = documents.map((row) => `${row.sha256}  ${row.id}.md\n`).join("");
  if (text !== list) throw new Error("the list is not of these documents");
}

// The approver has read the page, and a drafter may have changed a document since.
function checkUnchanged({ documents }) {
  const shown = document.querySelectorAll("code.document-digest");
  const digests = new Map(Array.from(shown, (code) => [code.dataset.document, code.textContent]));
  for (const { id, stored_sha256: stored } of documents) {
    // An order has no document.
    if (!stored || stored === digests.get(id)) continue;
    throw new Error(`the document has changed since this page was made; reload and read it: ${id}`);
  }
}

async function sign(prepared) {
  const message = fromBase64url(prepared.message);
  checkUnchanged(prepared);
  await checkShown(prepared, message);
  const allowed = prepared.credentials;
  if (allowed.length === 0) throw new Error("no passkey of yours is an allowed signer; enrol one");
  if (!(await confirmed(prepared))) return null;
  say("Waiting for the passkey.");
  const credential = await navigator.credentials.get({
    publicKey: {
      challenge: await signedBlob(prepared.namespace, message),
      rpId: prepared.rp_id,
      allowCredentials: allowed.map((one) => ({ type: "public-key", id: fromBase64url(one.id) })),
      userVerification: "required",
    },
  });
  const used = base64url(new Uint8Array(credential.rawId));
  const known = allowed.find((one) => one.id === used);
  if (!known) throw new Error("the passkey is not in the list of allowed signers");
  return armour(fromBase64url(known.public_key), prepared.namespace, credential.response);
}

async function answerOf(ticket) {
  for (let tries = 0; tries < ANSWER_TRIES; tries += 1) {
    const answer = await fetch(`/actions/${encodeURIComponent(ticket)}`);
    if (answer.status === 200) return answer.json();
    if (answer.status !== 202) break;
    await new Promise((resolve) => setTimeout(resolve, ANSWER_PAUSE_MS));
  }
  throw new Error("the daemon has not answered; it takes the signature when it runs");
}

async function act(form) {
  const unread = document.querySelectorAll("details.draft:not([data-opened])").length;
  if (unread > 0) throw new Error(`open and read each draft first; not opened yet: ${unread}`);
  const data = new FormData(form);
  const [action, ids] = [form.dataset.action, data.getAll("ids")];
  const prepared = await post("/prepare", { action, ids, by: data.get("by") ?? undefined });
  const signature = await sign(prepared);
  if (signature === null) {
    say("Not signed.");
    return;
  }
  const { ticket } = await post("/actions", { prepared: prepared.header, signature });
  say("Signed. Waiting for the daemon.");
  const answer = await answerOf(ticket);
  if (!answer.taken) throw new Error(answer.reason);
  sayDone(`Done: ${form.dataset.done ?? action}.`);
}

async function enrol(form) {
  const principal = new FormData(form).get("principal").trim();
  if (!PRINCIPAL.test(principal)) throw new Error("write one name without spaces and quotes");
  const { rpId, challenge, namespaces } = form.dataset;
  // A second passkey of a person must not replace the first on the same device.
  const user = crypto.getRandomValues(new Uint8Array(USER_ID_BYTES));
  const credential = await navigator.credentials.create({
    publicKey: {
      challenge: fromBase64url(challenge),
      rp: { id: rpId, name: "TOOL-EXEC" },
      user: { id: user, name: principal, displayName: principal },
      pubKeyCredParams: [{ type: "public-key", alg: ES256 }],
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      attestation: "none",
    },
  });
  const key = base64(publicKeyOf(credential.response.getPublicKey(), rpId));
  const id = base64url(new Uint8Array(credential.rawId));
  const line = `${principal} namespaces="${namespaces}" ${KEY_TYPE} ${key} webauthn:${id}`;
  document.getElementById("enrol-line").textContent = line;
  document.getElementById("enrol-result").hidden = false;
  say("The passkey is made. An administrator adds the line to allowed_signers.");
}

let isWorking = false;

function onSubmit(form, run) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isWorking) return;
    isWorking = true;
    document.body.dataset.working = "true";
    const buttons = document.querySelectorAll("form button");
    for (const button of buttons) button.disabled = true;
    try {
      if (!navigator.credentials) throw new Error("passkeys need https or http://localhost");
      await run(form);
    } catch (error) {
      say(error.name === "NotAllowedError" ? "The passkey was not used." : `${error.message}`);
    }
    for (const button of buttons) button.disabled = false;
    // A disabled button and a closed dialog lose the focus.
    const focused = document.activeElement;
    if (focused === document.body || focused?.closest("dialog")) event.submitter?.focus();
    delete document.body.dataset.working;
    isWorking = false;
  });
}

// --- live pages ------------------------------------------------------------------

function followOutput(place) {
  const source = new EventSource(place.dataset.source);
  const text = document.createTextNode("");
  place.append(text);
  const add = (event) => {
    const below = place.scrollHeight - place.scrollTop - place.clientHeight;
    text.appendData(JSON.parse(event.data));
    const over = text.length - OUTPUT_CHARS_MAX;
    if (over > 0) text.deleteData(0, over);
    if (below < FOLLOW_PIXELS) place.scrollTop = place.scrollHeight;
  };
  source.addEventListener("output", add);
  source.addEventListener("end", (event) => {
    source.close();
    const hasRun = JSON.parse(event.data) === "ended";
    const what = hasRun ? "The tool has ended." : "The request is not in progress any more.";
    say(`${what} Reload the page to see more.`, "output-status");
  });
}

// Notes that a draft of a batch was open.
function noteOpened(section) {
  const note = () => {
    if (section.open) section.dataset.opened = "true";
  };
  section.addEventListener("toggle", note);
  note();
}

// A change reloads the page, unless the approver is about to do something on it.
function reloadIfIdle() {
  const used = "dialog[open], input[type=checkbox]:checked, main :focus";
  if (isWorking) return;
  if (document.querySelector(used) === null) location.reload();
  else say("The queue has changed. Reload the page to see it.");
}

// A hidden page closes its connection: browsers open few to one host, and each tab needs one.
function followQueue() {
  let source = null;
  const follow = () => {
    // A change since the page was made counts too.
    const version = document.body.dataset.version ?? "";
    source = new EventSource(`/events?version=${encodeURIComponent(version)}`);
    source.addEventListener("changed", reloadIfIdle);
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      source.close();
    } else {
      follow();
      reloadIfIdle();
    }
  });
  follow();
}

if (document.body.dataset.live === "queue") sayKept();
for (const section of document.querySelectorAll("details.draft")) noteOpened(section);
for (const form of document.querySelectorAll("form.action")) onSubmit(form, act);
const enrolForm = document.getElementById("enrol-form");
if (enrolForm) onSubmit(enrolForm, enrol);
const output = document.getElementById("output");
if (output?.dataset.source) followOutput(output);
if (document.body.dataset.live === "queue") followQueue();
// A test waits for this mark.
document.body.dataset.ready = "true";
