//! The statements, each one commit by itself.

/// Makes a session that nobody writes yet; gives nothing where it is there.
pub(crate) const CREATE: &str = "
    WITH made AS (
        INSERT INTO parlor.sessions (name, summary) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING id
    ), head AS (INSERT INTO parlor.head (session) SELECT id FROM made)
    INSERT INTO parlor.lease (session) SELECT id FROM made RETURNING session";

/// Takes the lease of a session ($1) for a node ($2) at an address ($3), if nobody else has a good one: the epoch rises in the lease and
/// in the head at once, so that an append of the old epoch that is under way is either before it or not at all.
pub(crate) const TAKE: &str = "
    WITH taken AS (
        UPDATE parlor.lease l SET node = $2, address = $3, epoch = l.epoch + 1, until = clock_timestamp() + $4 * interval '1 second'
        FROM parlor.sessions s
        WHERE s.name = $1 AND l.session = s.id AND (l.until <= clock_timestamp() OR l.node = $2)
        RETURNING l.session, l.epoch
    )
    UPDATE parlor.head h SET epoch = t.epoch FROM taken t WHERE h.session = t.session
    RETURNING h.session, h.seq, h.hash, h.epoch";

/// Who has a session: its number, its last event, the node, its address and whether the lease is good.
pub(crate) const HOLDER: &str = "
    SELECT s.id, h.seq, l.node, l.address, l.until > clock_timestamp()
    FROM parlor.sessions s JOIN parlor.head h ON h.session = s.id JOIN parlor.lease l ON l.session = s.id WHERE s.name = $1";

/// Renews the leases ($1, with epochs $2) of a node ($3), and tells where the logs of those stand that are still its own. It writes, so
/// that its answer waits for all that was committed before it, on the standby too.
pub(crate) const RENEW: &str = "
    WITH mine AS (
        UPDATE parlor.lease l SET until = clock_timestamp() + $4 * interval '1 second'
        FROM unnest($1::bigint[], $2::bigint[]) AS given (session, epoch)
        WHERE l.session = given.session AND l.epoch = given.epoch AND l.node = $3
        RETURNING l.session
    )
    SELECT h.session, h.seq, h.hash FROM parlor.head h JOIN mine ON mine.session = h.session";

/// Gives a lease back.
pub(crate) const RELEASE: &str = "
    UPDATE parlor.lease SET node = '', address = '', until = '-infinity' WHERE session = $1 AND epoch = $2 AND node = $3
    RETURNING session";

/// Takes a session away that is still of this epoch.
pub(crate) const DELETE: &str = "
    DELETE FROM parlor.sessions s USING parlor.head h WHERE h.session = s.id AND s.id = $1 AND h.epoch = $2 RETURNING s.id";

/// Appends to many logs at once: each advances only where its epoch is still the given one and its head stands where the new records begin,
/// and nothing of one that does not is written. Gives the sessions that advanced.
pub(crate) const APPEND: &str = "
    WITH mine AS (
        UPDATE parlor.head h SET seq = given.seq, hash = given.hash
        FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[]) AS given (session, epoch, before, seq, hash)
        WHERE h.session = given.session AND h.epoch = given.epoch AND h.seq = given.before
        RETURNING h.session
    ), records AS (
        INSERT INTO parlor.log (session, first, last, version, form, crc, record)
        SELECT r.session, r.first, r.last, r.version, r.form, r.crc, r.record
        FROM unnest($6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::smallint[], $11::bigint[], $12::bytea[])
            AS r (session, first, last, version, form, crc, record)
        JOIN mine ON mine.session = r.session
    ), listed AS (
        UPDATE parlor.sessions s SET project = l.project, updated_at = l.at, running = l.running, summary = l.summary
        FROM unnest($1::bigint[], $13::text[], $14::bigint[], $15::boolean[], $16::text[]) AS l (session, project, at, running, summary)
        JOIN mine ON mine.session = l.session
        WHERE s.id = l.session
    ), begun AS (
        INSERT INTO parlor.runs (session, seq)
        SELECT r.session, r.seq FROM unnest($17::bigint[], $18::bigint[]) AS r (session, seq) JOIN mine ON mine.session = r.session
        ON CONFLICT DO NOTHING
    ), found AS (
        INSERT INTO parlor.entries (session, entry, at, first, last, words)
        SELECT e.session, e.entry, e.at, e.first, e.last, array_to_tsvector(string_to_array(e.words, ' '))
        FROM unnest($19::bigint[], $20::bigint[], $21::bigint[], $22::bigint[], $23::bigint[], $24::text[])
            AS e (session, entry, at, first, last, words)
        JOIN mine ON mine.session = e.session
        ON CONFLICT (session, entry) DO UPDATE SET at = excluded.at, first = excluded.first, last = excluded.last, words = excluded.words
    )
    SELECT session FROM mine";

/// Keeps a snapshot, where the epoch is still the given one and the log stands where it was made.
pub(crate) const SNAPSHOT: &str = "
    INSERT INTO parlor.snapshots (session, seq, version, form, crc, record)
    SELECT h.session, $3, $4, $5, $6, $7 FROM parlor.head h WHERE h.session = $1 AND h.epoch = $2 AND h.seq >= $3
    ON CONFLICT (session) DO UPDATE
    SET seq = excluded.seq, version = excluded.version, form = excluded.form, crc = excluded.crc, record = excluded.record
    RETURNING session";

/// Sets rows ($3) aside that cannot be read, and lets the log end where what is left of it ends.
pub(crate) const MEND: &str = "
    WITH mine AS (
        UPDATE parlor.head SET seq = $4, hash = $5 WHERE session = $1 AND epoch = $2 RETURNING session
    ), gone AS (
        DELETE FROM parlor.log l USING mine WHERE l.session = mine.session AND l.first = ANY ($3::bigint[])
        RETURNING l.session, l.first, l.last, l.version, l.form, l.crc, l.record
    ), kept AS (INSERT INTO parlor.damaged SELECT * FROM gone)
    SELECT session FROM mine";

/// The number of a session and where its log ends.
pub(crate) const KNOWN: &str = "
    SELECT s.id, h.seq, h.hash FROM parlor.sessions s JOIN parlor.head h ON h.session = s.id WHERE s.name = $1";

/// So many rows of a log, from the one on that holds event $2.
pub(crate) const LOG: &str = "
    SELECT first, last, version, form, crc, record FROM parlor.log
    WHERE session = $1 AND first >= coalesce((SELECT max(first) FROM parlor.log WHERE session = $1 AND first <= $2), 0)
    ORDER BY first LIMIT $3";

/// The snapshot of a session.
pub(crate) const KEPT_STATE: &str =
    "SELECT seq, version, form, crc, record FROM parlor.snapshots WHERE session = $1";

/// Where the newest runs of a session begin.
pub(crate) const RUNS: &str = "SELECT seq FROM parlor.runs WHERE session = $1 ORDER BY seq DESC LIMIT $2";

/// Sessions as lists show them, newest first: of a project ($1), with words ($2), so many ($3).
pub(crate) const LIST: &str = "
    SELECT s.summary, l.node <> '' AND l.until > clock_timestamp()
    FROM parlor.sessions s JOIN parlor.lease l ON l.session = s.id JOIN parlor.head h ON h.session = s.id
    WHERE h.seq > 0 AND ($1::text IS NULL OR s.project = $1)
        AND ($2::text IS NULL OR s.id IN (SELECT session FROM parlor.entries WHERE words @@ $2::text::tsquery))
        AND (EXISTS (SELECT 1 FROM parlor.entries e WHERE e.session = s.id) OR EXISTS (SELECT 1 FROM parlor.runs r WHERE r.session = s.id))
    ORDER BY s.updated_at DESC, s.id DESC LIMIT $3";

/// One session as lists show it.
pub(crate) const SUMMARY: &str = "
    SELECT s.summary, l.node <> '' AND l.until > clock_timestamp()
    FROM parlor.sessions s JOIN parlor.lease l ON l.session = s.id JOIN parlor.head h ON h.session = s.id
    WHERE h.seq > 0 AND s.name = $1";

/// The sessions that somebody has open, each with its holder.
pub(crate) const HOLDERS: &str = "
    SELECT s.name, l.node, l.address FROM parlor.lease l JOIN parlor.sessions s ON s.id = l.session
    WHERE l.node <> '' AND l.until > clock_timestamp()";

/// The newest sessions that were cut off in a run.
pub(crate) const CUT_OFF: &str = "
    SELECT s.summary FROM parlor.sessions s JOIN parlor.lease l ON l.session = s.id JOIN parlor.head h ON h.session = s.id
    WHERE h.seq > 0 AND s.running AND NOT (l.node <> '' AND l.until > clock_timestamp())
    ORDER BY s.updated_at DESC LIMIT $1";

/// Entries with words ($1), newest first, so many ($2).
pub(crate) const HITS: &str = "
    SELECT s.name, s.id, s.summary, e.entry, e.at, e.first, e.last
    FROM parlor.entries e JOIN parlor.sessions s ON s.id = e.session
    WHERE e.words @@ $1::text::tsquery AND e.entry > 0 ORDER BY e.at DESC, e.entry DESC LIMIT $2";

/// The sessions in which words ($1) were said last, of a project ($2), so many ($3), each with the newest entry that holds them.
pub(crate) const FOUND: &str = "
    SELECT s.summary, l.node <> '' AND l.until > clock_timestamp(), s.id, f.entry, f.at, f.first, f.last
    FROM (
        SELECT DISTINCT ON (session) session, entry, at, first, last FROM parlor.entries
        WHERE words @@ $1::text::tsquery ORDER BY session, (entry > 0) DESC, at DESC, entry DESC
    ) f
    JOIN parlor.sessions s ON s.id = f.session JOIN parlor.lease l ON l.session = s.id
    WHERE $2::text IS NULL OR s.project = $2 ORDER BY f.at DESC LIMIT $3";

/// What `doctor` tells: how many sessions, how many bytes, and the server's version.
pub(crate) const HEALTH: &str = "
    SELECT (SELECT count(*) FROM parlor.head WHERE seq > 0), pg_database_size(current_database()), current_setting('server_version'),
        (SELECT count(*) FROM parlor.lease WHERE node <> '' AND until > clock_timestamp())";
