CREATE TABLE parlor.sessions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    project text NOT NULL DEFAULT '',
    updated_at bigint NOT NULL DEFAULT 0,
    running boolean NOT NULL DEFAULT false,
    summary text NOT NULL
);
CREATE INDEX sessions_by_time ON parlor.sessions (updated_at);
CREATE INDEX sessions_by_project ON parlor.sessions (project, updated_at);

-- Where each log ends, what proves it, and the epoch that may go on with it.
CREATE TABLE parlor.head (
    session bigint PRIMARY KEY REFERENCES parlor.sessions ON DELETE CASCADE,
    seq bigint NOT NULL DEFAULT 0,
    hash bytea NOT NULL DEFAULT '',
    epoch bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE TABLE parlor.lease (
    session bigint PRIMARY KEY REFERENCES parlor.sessions ON DELETE CASCADE,
    node text NOT NULL DEFAULT '',
    epoch bigint NOT NULL DEFAULT 0,
    until timestamptz NOT NULL DEFAULT '-infinity',
    address text NOT NULL DEFAULT ''
) WITH (fillfactor = 50);

CREATE TABLE parlor.log (
    session bigint NOT NULL REFERENCES parlor.sessions ON DELETE CASCADE,
    first bigint NOT NULL,
    last bigint NOT NULL,
    version bigint NOT NULL,
    form smallint NOT NULL,
    crc bigint NOT NULL,
    record bytea NOT NULL,
    PRIMARY KEY (session, first)
);
-- The records are packed already.
ALTER TABLE parlor.log ALTER record SET STORAGE EXTERNAL;

-- Rows of the log that could not be read, set aside so that their numbers are free.
CREATE TABLE parlor.damaged (
    session bigint NOT NULL REFERENCES parlor.sessions ON DELETE CASCADE,
    first bigint NOT NULL,
    last bigint NOT NULL,
    version bigint NOT NULL,
    form smallint NOT NULL,
    crc bigint NOT NULL,
    record bytea NOT NULL
);
CREATE INDEX damaged_by_session ON parlor.damaged (session);

CREATE TABLE parlor.snapshots (
    session bigint PRIMARY KEY REFERENCES parlor.sessions ON DELETE CASCADE,
    seq bigint NOT NULL,
    version bigint NOT NULL,
    form smallint NOT NULL,
    crc bigint NOT NULL,
    record bytea NOT NULL
);
ALTER TABLE parlor.snapshots ALTER record SET STORAGE EXTERNAL;

CREATE TABLE parlor.runs (
    session bigint NOT NULL REFERENCES parlor.sessions ON DELETE CASCADE,
    seq bigint NOT NULL,
    PRIMARY KEY (session, seq)
);

-- Entry 0 stands for the session's title. The words are ours, cut as the other stores cut them.
CREATE TABLE parlor.entries (
    session bigint NOT NULL REFERENCES parlor.sessions ON DELETE CASCADE,
    entry bigint NOT NULL,
    at bigint NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (session, entry)
);
CREATE INDEX entries_by_word ON parlor.entries USING gin (words);
