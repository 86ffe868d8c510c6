-- The tables of a fleet. The plain subset of SQL: no extension, no advisory lock.
--
-- A `sum` is the SHA-256 over the decisive fields of its row, computed by the program that wrote it
-- (fleet/src/database/sum.rs). A row whose sum does not match was changed by hand, and counts for
-- nothing.

CREATE SCHEMA toolexec;

-- One row: the identity of the fleet, and the number of the last migration.
CREATE TABLE toolexec.fleet (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    name text NOT NULL,
    fleet_id text NOT NULL,
    schema_version integer NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- One row for each host that has ever connected. All times are of the database's clock.
CREATE TABLE toolexec.host (
    name text PRIMARY KEY CHECK (octet_length(name) <= 63),
    labels text[] NOT NULL CHECK (cardinality(labels) <= 64),
    beat_at timestamptz NOT NULL DEFAULT now(),
    -- Grows by one with each beat. A smaller number than before means an older copy of the tables.
    beats bigint NOT NULL DEFAULT 1,
    -- The time at which the host had reported everything after it was declared lost.
    returned_at timestamptz
);

-- Signed orders of operators: the host is lost.
CREATE TABLE toolexec.lost (
    host text NOT NULL,
    declared_at timestamptz NOT NULL DEFAULT now(),
    declared_by text NOT NULL DEFAULT session_user,
    order_text text NOT NULL CHECK (octet_length(order_text) <= 4096),
    signature text NOT NULL CHECK (octet_length(signature) <= 16384),
    PRIMARY KEY (host, declared_at)
);

-- Requests and standing approvals. Rows are inserted and never changed.
CREATE TABLE toolexec.request (
    id text PRIMARY KEY CHECK (octet_length(id) BETWEEN 1 AND 128),
    document_sha256 text NOT NULL CHECK (octet_length(document_sha256) = 64),
    -- The list of the submitted files. A local request was placed on its host, and has none.
    manifest_sha256 text CHECK (octet_length(manifest_sha256) = 64),
    kind text NOT NULL CHECK (kind IN ('request', 'standing', 'local')),
    audience text CHECK (octet_length(audience) <= 256),
    bytes bigint NOT NULL CHECK (bytes >= 0),
    signatures text[] NOT NULL CHECK (cardinality(signatures) <= 1024),
    submitted_by text NOT NULL DEFAULT session_user,
    submitted_at timestamptz NOT NULL DEFAULT now(),
    sum text NOT NULL,
    CHECK ((manifest_sha256 IS NULL) = (kind = 'local'))
);
CREATE INDEX request_submitted ON toolexec.request (submitted_at DESC, id DESC);
CREATE INDEX request_standing ON toolexec.request (submitted_at) WHERE kind = 'standing';

-- Signature files that were submitted after their document.
CREATE TABLE toolexec.addition (
    request text NOT NULL REFERENCES toolexec.request (id),
    manifest_sha256 text NOT NULL CHECK (octet_length(manifest_sha256) = 64),
    bytes bigint NOT NULL CHECK (bytes >= 0),
    signatures text[] NOT NULL CHECK (cardinality(signatures) <= 1024),
    submitted_by text NOT NULL DEFAULT session_user,
    submitted_at timestamptz NOT NULL DEFAULT now(),
    sum text NOT NULL,
    PRIMARY KEY (request, manifest_sha256)
);

-- The state of each request. Only in these rows do decisive fields change.
CREATE TABLE toolexec.claim (
    request text PRIMARY KEY REFERENCES toolexec.request (id),
    document_sha256 text NOT NULL,
    audience text,
    submitted_at timestamptz NOT NULL DEFAULT now(),
    host text,
    -- Grows by one whenever a claim leaves its host, so that a start by the former host fails.
    epoch bigint NOT NULL CHECK (epoch >= 0),
    state text NOT NULL
        CHECK (state IN ('queued', 'claimed', 'started', 'ended', 'indeterminate')),
    changed_at timestamptz NOT NULL DEFAULT now(),
    sum text NOT NULL,
    CHECK ((host IS NULL) = (state = 'queued'))
);
CREATE INDEX claim_queued ON toolexec.claim (submitted_at, request) WHERE state = 'queued';
CREATE INDEX claim_open ON toolexec.claim (host)
    WHERE state IN ('claimed', 'started', 'indeterminate');

-- Hosts that gave a request back, each with its reason. They do not claim it again.
CREATE TABLE toolexec.declined (
    request text NOT NULL REFERENCES toolexec.request (id),
    host text NOT NULL,
    reason text NOT NULL CHECK (octet_length(reason) <= 4096),
    declined_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (request, host)
);

-- The starts. The primary key makes a second start impossible. Rows are never changed.
CREATE TABLE toolexec.start (
    request text PRIMARY KEY REFERENCES toolexec.request (id),
    document_sha256 text NOT NULL,
    host text NOT NULL,
    epoch bigint NOT NULL,
    -- Made for one query of a daemon. This row answers only the same query again.
    nonce text NOT NULL CHECK (octet_length(nonce) <= 64),
    started_at timestamptz NOT NULL DEFAULT now(),
    sum text NOT NULL
);

-- One row for each standing approval in use. Its lock orders the uses of all hosts.
CREATE TABLE toolexec.standing (
    document_sha256 text PRIMARY KEY CHECK (octet_length(document_sha256) = 64),
    approval text NOT NULL CHECK (octet_length(approval) BETWEEN 1 AND 128)
);

-- The uses of standing approvals, each inserted with its start.
CREATE TABLE toolexec.standing_use (
    request text PRIMARY KEY REFERENCES toolexec.start (request),
    standing_sha256 text NOT NULL REFERENCES toolexec.standing (document_sha256),
    host text NOT NULL,
    used_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX standing_use_time ON toolexec.standing_use (standing_sha256, used_at);

-- The records. Rows are inserted and never changed.
CREATE TABLE toolexec.result (
    request text PRIMARY KEY REFERENCES toolexec.request (id),
    document_sha256 text NOT NULL,
    host text NOT NULL,
    epoch bigint NOT NULL,
    result_id text NOT NULL CHECK (octet_length(result_id) <= 256),
    outcome text NOT NULL CHECK (octet_length(outcome) <= 64),
    exit_code integer NOT NULL,
    manifest_sha256 text NOT NULL CHECK (octet_length(manifest_sha256) = 64),
    record_sha256 text NOT NULL CHECK (octet_length(record_sha256) = 64),
    reported_at timestamptz NOT NULL DEFAULT now(),
    sum text NOT NULL
);

-- Standing approvals and additions that a host has placed into its spool.
CREATE TABLE toolexec.delivery (
    host text NOT NULL,
    document_sha256 text NOT NULL,
    manifest_sha256 text NOT NULL,
    delivered_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (host, document_sha256, manifest_sha256)
);

-- Bytes by their SHA-256, in parts of 1 MiB. The row of the blob is inserted after all parts, and
-- its trigger hashes them. Parts without their blob are never committed. So no submitter can occupy
-- the digest of another one's file with other bytes.
CREATE TABLE toolexec.blob_part (
    sha256 text NOT NULL CHECK (octet_length(sha256) = 64),
    part integer NOT NULL CHECK (part BETWEEN 0 AND 63),
    data bytea NOT NULL CHECK (octet_length(data) BETWEEN 1 AND 1048576),
    PRIMARY KEY (sha256, part)
);
CREATE TABLE toolexec.blob (
    sha256 text PRIMARY KEY CHECK (octet_length(sha256) = 64),
    bytes bigint NOT NULL CHECK (bytes BETWEEN 0 AND 67108864),
    stored_by text NOT NULL DEFAULT session_user,
    stored_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE toolexec.blob_part ADD CONSTRAINT blob_part_of_blob FOREIGN KEY (sha256)
    REFERENCES toolexec.blob (sha256) DEFERRABLE INITIALLY DEFERRED;

-- The newest checkpoint of each host's log.
CREATE TABLE toolexec.checkpoint (
    host text PRIMARY KEY,
    size bigint NOT NULL CHECK (size >= 0),
    note text NOT NULL CHECK (octet_length(note) <= 65536),
    posted_at timestamptz NOT NULL DEFAULT now()
);
-- For each witness, the body of add-checkpoint with the proof from the size that it last cosigned.
CREATE TABLE toolexec.proof (
    host text NOT NULL,
    witness text NOT NULL,
    size bigint NOT NULL CHECK (size >= 0),
    body text NOT NULL CHECK (octet_length(body) <= 131072),
    PRIMARY KEY (host, witness)
);
-- The newest cosignature of each witness.
CREATE TABLE toolexec.cosignature (
    host text NOT NULL,
    witness text NOT NULL,
    size bigint NOT NULL CHECK (size >= 0),
    lines text NOT NULL CHECK (octet_length(lines) <= 16384),
    posted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (host, witness),
    CHECK (host <> witness)
);
-- A witness saw a log that the host's checkpoint does not extend. The owner of the tables deletes
-- the row when the cause is known.
CREATE TABLE toolexec.dispute (
    host text NOT NULL,
    witness text NOT NULL,
    reason text NOT NULL CHECK (octet_length(reason) <= 4096),
    note text NOT NULL CHECK (octet_length(note) <= 65536),
    disputed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (host, witness),
    CHECK (host <> witness)
);
