-- The state machine. These triggers also bind the owner of the tables and a superuser. Each error
-- has a code of its own: TF001 for a change that the states do not have, TF002 for a disputed host,
-- TF003 for a lost one.

-- For rows that are inserted and never changed.
CREATE FUNCTION toolexec.refuse_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'TF001';
END
$$;

CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON toolexec.request
    FOR EACH ROW EXECUTE FUNCTION toolexec.refuse_change();
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON toolexec.addition
    FOR EACH ROW EXECUTE FUNCTION toolexec.refuse_change();
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON toolexec.start
    FOR EACH ROW EXECUTE FUNCTION toolexec.refuse_change();
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON toolexec.standing
    FOR EACH ROW EXECUTE FUNCTION toolexec.refuse_change();
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON toolexec.standing_use
    FOR EACH ROW EXECUTE FUNCTION toolexec.refuse_change();
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON toolexec.result
    FOR EACH ROW EXECUTE FUNCTION toolexec.refuse_change();
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON toolexec.lost
    FOR EACH ROW EXECUTE FUNCTION toolexec.refuse_change();
CREATE TRIGGER no_change BEFORE UPDATE ON toolexec.blob
    FOR EACH ROW EXECUTE FUNCTION toolexec.refuse_change();
CREATE TRIGGER no_change BEFORE UPDATE ON toolexec.blob_part
    FOR EACH ROW EXECUTE FUNCTION toolexec.refuse_change();

-- The sum of a row, as fleet/src/database/sum.rs computes it. In SQL it would be planned at each
-- call.
CREATE FUNCTION toolexec.row_sum(named text, fields text[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT encode(sha256(convert_to(
        'toolexec-fleet ' || named || E' v1\n' || string_agg(
            coalesce(octet_length(convert_to(f.field, 'UTF8')) || ':' || f.field, '-') || E'\n',
            '' ORDER BY f.place
        ), 'UTF8')), 'hex')
    FROM unnest(fields) WITH ORDINALITY AS f (field, place));
END
$$;

-- A new document or addition has the form that programs read. Otherwise a submitter could fill the
-- look-ups of every host with rows that count as changed by hand.
CREATE FUNCTION toolexec.check_submitted() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    digests text[] := NEW.manifest_sha256 || NEW.signatures;
    counted text[] := ARRAY[NEW.bytes::text, cardinality(NEW.signatures)::text];
    wanted text;
BEGIN
    IF TG_TABLE_NAME = 'request' THEN
        digests := NEW.document_sha256 || digests;
        wanted := toolexec.row_sum('request', ARRAY[NEW.id, NEW.document_sha256,
            NEW.manifest_sha256, NEW.kind, NEW.audience] || counted || NEW.signatures);
        IF NEW.id COLLATE "C" !~ '^[!-~]+$' THEN
            RAISE EXCEPTION 'the id of a document has other characters' USING ERRCODE = 'TF001';
        END IF;
    ELSE
        wanted := toolexec.row_sum('addition', ARRAY[NEW.request,
            (SELECT r.document_sha256 FROM toolexec.request r WHERE r.id = NEW.request),
            NEW.manifest_sha256] || counted || NEW.signatures);
    END IF;
    IF NEW.sum IS DISTINCT FROM wanted OR coalesce(array_ndims(NEW.signatures), 1) <> 1
        OR array_position(NEW.signatures, NULL) IS NOT NULL
        OR EXISTS (SELECT 1 FROM unnest(digests) AS d WHERE d COLLATE "C" !~ '^[0-9a-f]{64}$')
    THEN
        RAISE EXCEPTION 'a row of % does not have the form of a submission', TG_TABLE_NAME
            USING ERRCODE = 'TF001';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER submitted BEFORE INSERT ON toolexec.request
    FOR EACH ROW EXECUTE FUNCTION toolexec.check_submitted();
CREATE TRIGGER submitted BEFORE INSERT ON toolexec.addition
    FOR EACH ROW EXECUTE FUNCTION toolexec.check_submitted();

-- A new blob has all its bytes. One that exists is not hashed again.
CREATE FUNCTION toolexec.check_blob() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    whole bytea;
    parts bigint;
    last integer;
BEGIN
    IF EXISTS (SELECT 1 FROM toolexec.blob b WHERE b.sha256 = NEW.sha256) THEN
        RETURN NEW;
    END IF;
    SELECT string_agg(p.data, ''::bytea ORDER BY p.part), count(*), max(p.part)
        INTO whole, parts, last
        FROM toolexec.blob_part p WHERE p.sha256 = NEW.sha256;
    whole := coalesce(whole, ''::bytea);
    IF octet_length(whole) <> NEW.bytes OR parts <> coalesce(last + 1, 0)
        OR encode(sha256(whole), 'hex') <> NEW.sha256
    THEN
        RAISE EXCEPTION 'the blob % has other bytes', NEW.sha256 USING ERRCODE = 'TF001';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER hashed BEFORE INSERT ON toolexec.blob
    FOR EACH ROW EXECUTE FUNCTION toolexec.check_blob();

-- Fails unless this host may claim and start.
CREATE FUNCTION toolexec.check_may_claim(named text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF named IS DISTINCT FROM session_user::text THEN
        RAISE EXCEPTION 'the role % is not the host %', session_user, named
            USING ERRCODE = 'TF001';
    END IF;
    IF EXISTS (SELECT 1 FROM toolexec.dispute d WHERE d.host = named) THEN
        RAISE EXCEPTION 'the log of % is disputed', named USING ERRCODE = 'TF002';
    END IF;
    IF EXISTS (
        SELECT 1 FROM toolexec.lost l LEFT JOIN toolexec.host h ON h.name = l.host
        WHERE l.host = named
            AND (h.returned_at IS NULL OR h.returned_at <= l.declared_at)
    ) THEN
        RAISE EXCEPTION 'the host % was declared lost', named USING ERRCODE = 'TF003';
    END IF;
END
$$;

-- A new claim is queued by its submitter, or is a start that its own host decided.
CREATE FUNCTION toolexec.check_new_claim() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted text := CASE NEW.state WHEN 'queued' THEN 'request' WHEN 'started' THEN 'local' END;
BEGIN
    IF NEW.epoch <> 0
        OR NEW.sum <> toolexec.row_sum('claim', ARRAY[NEW.request, NEW.document_sha256,
            NEW.audience, NEW.host, NEW.epoch::text, NEW.state])
        OR NOT EXISTS (
        SELECT 1 FROM toolexec.request r
        WHERE r.id = NEW.request AND r.document_sha256 = NEW.document_sha256
            AND r.audience IS NOT DISTINCT FROM NEW.audience AND r.kind = wanted
    ) THEN
        RAISE EXCEPTION 'the claim of % does not begin like this', NEW.request
            USING ERRCODE = 'TF001';
    END IF;
    IF NEW.state = 'started' THEN
        PERFORM toolexec.check_may_claim(NEW.host);
    END IF;
    NEW.submitted_at := now();
    NEW.changed_at := now();
    RETURN NEW;
END
$$;

CREATE TRIGGER new_claim BEFORE INSERT ON toolexec.claim
    FOR EACH ROW EXECUTE FUNCTION toolexec.check_new_claim();

-- Every change of a state. The conditions name all that are allowed.
CREATE FUNCTION toolexec.check_claim() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    change text := OLD.state || ' to ' || NEW.state;
    is_mine boolean := OLD.host IS NOT DISTINCT FROM session_user::text;
    stays boolean := NEW.host IS NOT DISTINCT FROM OLD.host AND NEW.epoch = OLD.epoch;
    is_lost boolean := EXISTS (
        SELECT 1 FROM toolexec.lost l WHERE l.host = OLD.host AND l.declared_at = now()
    );
BEGIN
    IF NEW.request <> OLD.request OR NEW.document_sha256 <> OLD.document_sha256
        OR NEW.audience IS DISTINCT FROM OLD.audience OR NEW.submitted_at <> OLD.submitted_at
    THEN
        RAISE EXCEPTION 'the document of the claim of % never changes', OLD.request
            USING ERRCODE = 'TF001';
    END IF;
    IF NOT (CASE change
        WHEN 'queued to claimed' THEN NEW.epoch = OLD.epoch
        WHEN 'claimed to claimed' THEN NOT is_mine AND NEW.epoch = OLD.epoch + 1
        WHEN 'claimed to queued' THEN (is_mine OR is_lost) AND NEW.epoch = OLD.epoch + 1
        WHEN 'claimed to started' THEN is_mine AND stays
        WHEN 'claimed to ended' THEN is_mine AND stays
        WHEN 'started to ended' THEN is_mine AND stays
        WHEN 'indeterminate to ended' THEN is_mine AND stays
        -- An operator declares the host lost, or the host has lost the record.
        WHEN 'started to indeterminate' THEN (is_mine OR is_lost) AND stays
        ELSE false
    END) THEN
        RAISE EXCEPTION 'the claim of % does not change from %', OLD.request, change
            USING ERRCODE = 'TF001';
    END IF;
    IF NEW.state IN ('claimed', 'started') THEN
        PERFORM toolexec.check_may_claim(NEW.host);
    END IF;
    IF NEW.state = 'ended' AND NOT EXISTS (
        SELECT 1 FROM toolexec.result r
        WHERE r.request = OLD.request AND r.host = OLD.host AND r.epoch = OLD.epoch
    ) THEN
        RAISE EXCEPTION 'the request % has no result', OLD.request USING ERRCODE = 'TF001';
    END IF;
    NEW.changed_at := now();
    RETURN NEW;
END
$$;

CREATE TRIGGER changed_claim BEFORE UPDATE ON toolexec.claim
    FOR EACH ROW EXECUTE FUNCTION toolexec.check_claim();
CREATE TRIGGER no_delete BEFORE DELETE ON toolexec.claim
    FOR EACH ROW EXECUTE FUNCTION toolexec.refuse_change();

-- A start and a result belong to the claim of the role that inserts them.
CREATE FUNCTION toolexec.check_claimed_row() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.host IS DISTINCT FROM session_user::text OR NOT EXISTS (
        SELECT 1 FROM toolexec.claim c
        WHERE c.request = NEW.request AND c.document_sha256 = NEW.document_sha256
            AND c.host = NEW.host AND c.epoch = NEW.epoch
            AND CASE TG_TABLE_NAME WHEN 'start' THEN c.state = 'started'
                ELSE c.state IN ('claimed', 'started', 'indeterminate') END
    ) THEN
        RAISE EXCEPTION 'the host % has no such claim of %', NEW.host, NEW.request
            USING ERRCODE = 'TF001';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER claimed BEFORE INSERT ON toolexec.start
    FOR EACH ROW EXECUTE FUNCTION toolexec.check_claimed_row();
CREATE TRIGGER claimed BEFORE INSERT ON toolexec.result
    FOR EACH ROW EXECUTE FUNCTION toolexec.check_claimed_row();

-- A host's times are of the database's clock.
CREATE FUNCTION toolexec.check_beat() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.beat_at := now();
    IF TG_OP = 'INSERT' THEN
        NEW.beats := 1;
        NEW.returned_at := NULL;
        RETURN NEW;
    END IF;
    NEW.beats := OLD.beats + 1;
    IF NEW.returned_at IS DISTINCT FROM OLD.returned_at THEN
        NEW.returned_at := now();
    END IF;
    IF NEW.name <> OLD.name THEN
        RAISE EXCEPTION 'the name of a host never changes' USING ERRCODE = 'TF001';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER beat BEFORE INSERT OR UPDATE ON toolexec.host
    FOR EACH ROW EXECUTE FUNCTION toolexec.check_beat();
