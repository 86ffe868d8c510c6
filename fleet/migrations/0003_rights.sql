-- Row rights. Submitters insert requests and read states. Hosts claim and report, each for itself.
-- The owner of the tables is bound by the triggers only.

-- The groups are of the whole cluster: another fleet's database may have made them.
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'toolexec_submitter') THEN
        CREATE ROLE toolexec_submitter NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'toolexec_host') THEN
        CREATE ROLE toolexec_host NOLOGIN;
    END IF;
END
$$;

GRANT USAGE ON SCHEMA toolexec TO toolexec_submitter, toolexec_host;

ALTER TABLE toolexec.fleet ENABLE ROW LEVEL SECURITY;
ALTER TABLE toolexec.host ENABLE ROW LEVEL SECURITY;
ALTER TABLE toolexec.lost ENABLE ROW LEVEL SECURITY;
ALTER TABLE toolexec.request ENABLE ROW LEVEL SECURITY;
ALTER TABLE toolexec.addition ENABLE ROW LEVEL SECURITY;
ALTER TABLE toolexec.claim ENABLE ROW LEVEL SECURITY;
ALTER TABLE toolexec.declined ENABLE ROW LEVEL SECURITY;
ALTER TABLE toolexec.start ENABLE ROW LEVEL SECURITY;
ALTER TABLE toolexec.standing ENABLE ROW LEVEL SECURITY;
ALTER TABLE toolexec.standing_use ENABLE ROW LEVEL SECURITY;
ALTER TABLE toolexec.result ENABLE ROW LEVEL SECURITY;
ALTER TABLE toolexec.delivery ENABLE ROW LEVEL SECURITY;
ALTER TABLE toolexec.blob_part ENABLE ROW LEVEL SECURITY;
ALTER TABLE toolexec.blob ENABLE ROW LEVEL SECURITY;
ALTER TABLE toolexec.checkpoint ENABLE ROW LEVEL SECURITY;
ALTER TABLE toolexec.proof ENABLE ROW LEVEL SECURITY;
ALTER TABLE toolexec.cosignature ENABLE ROW LEVEL SECURITY;
ALTER TABLE toolexec.dispute ENABLE ROW LEVEL SECURITY;

-- Both groups read every table.
GRANT SELECT ON ALL TABLES IN SCHEMA toolexec TO toolexec_submitter, toolexec_host;
CREATE POLICY readers ON toolexec.fleet FOR SELECT USING (true);
CREATE POLICY readers ON toolexec.host FOR SELECT USING (true);
CREATE POLICY readers ON toolexec.lost FOR SELECT USING (true);
CREATE POLICY readers ON toolexec.request FOR SELECT USING (true);
CREATE POLICY readers ON toolexec.addition FOR SELECT USING (true);
CREATE POLICY readers ON toolexec.claim FOR SELECT USING (true);
CREATE POLICY readers ON toolexec.declined FOR SELECT USING (true);
CREATE POLICY readers ON toolexec.start FOR SELECT USING (true);
CREATE POLICY readers ON toolexec.standing FOR SELECT USING (true);
CREATE POLICY readers ON toolexec.standing_use FOR SELECT USING (true);
CREATE POLICY readers ON toolexec.result FOR SELECT USING (true);
CREATE POLICY readers ON toolexec.delivery FOR SELECT USING (true);
CREATE POLICY readers ON toolexec.blob_part FOR SELECT USING (true);
CREATE POLICY readers ON toolexec.blob FOR SELECT USING (true);
CREATE POLICY readers ON toolexec.checkpoint FOR SELECT USING (true);
CREATE POLICY readers ON toolexec.proof FOR SELECT USING (true);
CREATE POLICY readers ON toolexec.cosignature FOR SELECT USING (true);
CREATE POLICY readers ON toolexec.dispute FOR SELECT USING (true);

-- Bytes come from both groups. A host hashes them before it believes them.
GRANT INSERT ON toolexec.blob_part, toolexec.blob TO toolexec_submitter, toolexec_host;
CREATE POLICY writers ON toolexec.blob_part FOR INSERT
    TO toolexec_submitter, toolexec_host WITH CHECK (true);
CREATE POLICY writers ON toolexec.blob FOR INSERT
    TO toolexec_submitter, toolexec_host WITH CHECK (stored_by = session_user);

-- Submitters.
GRANT INSERT ON toolexec.request, toolexec.addition, toolexec.claim TO toolexec_submitter;
CREATE POLICY submitters ON toolexec.request FOR INSERT TO toolexec_submitter
    WITH CHECK (kind <> 'local' AND submitted_by = session_user AND submitted_at = now());
CREATE POLICY submitters ON toolexec.addition FOR INSERT TO toolexec_submitter
    WITH CHECK (submitted_by = session_user AND submitted_at = now());
CREATE POLICY submitters ON toolexec.claim FOR INSERT TO toolexec_submitter
    WITH CHECK (state = 'queued');

-- Hosts: the state of requests.
GRANT INSERT ON toolexec.request, toolexec.start, toolexec.result, toolexec.declined,
    toolexec.delivery, toolexec.standing_use TO toolexec_host;
GRANT INSERT, UPDATE ON toolexec.claim, toolexec.host, toolexec.standing TO toolexec_host;
CREATE POLICY hosts ON toolexec.request FOR INSERT TO toolexec_host
    WITH CHECK (kind = 'local' AND submitted_by = session_user AND submitted_at = now());
CREATE POLICY hosts ON toolexec.claim FOR INSERT TO toolexec_host
    WITH CHECK (state = 'started' AND host = session_user);
CREATE POLICY hosts_change ON toolexec.claim FOR UPDATE TO toolexec_host
    USING (state IN ('queued', 'claimed') OR host = session_user)
    WITH CHECK (state = 'queued' OR host = session_user);
CREATE POLICY hosts ON toolexec.start FOR INSERT TO toolexec_host
    WITH CHECK (host = session_user AND started_at = now());
CREATE POLICY hosts ON toolexec.result FOR INSERT TO toolexec_host
    WITH CHECK (host = session_user AND reported_at = now());
CREATE POLICY hosts ON toolexec.declined FOR INSERT TO toolexec_host
    WITH CHECK (host = session_user);
CREATE POLICY hosts ON toolexec.delivery FOR INSERT TO toolexec_host
    WITH CHECK (host = session_user);
CREATE POLICY hosts ON toolexec.host FOR INSERT TO toolexec_host
    WITH CHECK (name = session_user);
CREATE POLICY hosts_change ON toolexec.host FOR UPDATE TO toolexec_host
    USING (name = session_user) WITH CHECK (name = session_user);

-- The right to update lets a host lock a row. The trigger refuses every change.
CREATE POLICY hosts ON toolexec.standing FOR INSERT TO toolexec_host WITH CHECK (true);
CREATE POLICY hosts_lock ON toolexec.standing FOR UPDATE TO toolexec_host USING (true);
CREATE POLICY hosts ON toolexec.standing_use FOR INSERT TO toolexec_host
    WITH CHECK (
        host = session_user AND used_at = now()
        AND EXISTS (SELECT 1 FROM toolexec.start s WHERE s.request = standing_use.request
            AND s.host = session_user AND s.started_at = now())
    );

-- Hosts: the logs. Each host writes its own checkpoint, and as a witness its own cosignatures and
-- disputes.
GRANT INSERT, UPDATE ON toolexec.checkpoint, toolexec.proof, toolexec.cosignature TO toolexec_host;
GRANT INSERT ON toolexec.dispute TO toolexec_host;
CREATE POLICY hosts ON toolexec.checkpoint FOR INSERT TO toolexec_host
    WITH CHECK (host = session_user);
CREATE POLICY hosts_change ON toolexec.checkpoint FOR UPDATE TO toolexec_host
    USING (host = session_user) WITH CHECK (host = session_user);
CREATE POLICY hosts ON toolexec.proof FOR INSERT TO toolexec_host
    WITH CHECK (host = session_user);
CREATE POLICY hosts_change ON toolexec.proof FOR UPDATE TO toolexec_host
    USING (host = session_user) WITH CHECK (host = session_user);
CREATE POLICY witnesses ON toolexec.cosignature FOR INSERT TO toolexec_host
    WITH CHECK (witness = session_user);
CREATE POLICY witnesses_change ON toolexec.cosignature FOR UPDATE TO toolexec_host
    USING (witness = session_user) WITH CHECK (witness = session_user);
CREATE POLICY witnesses ON toolexec.dispute FOR INSERT TO toolexec_host
    WITH CHECK (witness = session_user);
