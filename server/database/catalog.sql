-- What Penstock keeps in the PostgreSQL of a server. It is run at every start, by the engine's user.
DO $$
BEGIN
  CREATE ROLE penstock_reader NOLOGIN;
EXCEPTION WHEN duplicate_object THEN NULL;
END $$;
DO $$
BEGIN
  CREATE ROLE penstock_submitter NOLOGIN IN ROLE penstock_reader;
EXCEPTION WHEN duplicate_object THEN NULL;
END $$;
DO $$
BEGIN
  CREATE ROLE penstock_owner NOLOGIN IN ROLE penstock_submitter;
EXCEPTION WHEN duplicate_object THEN NULL;
END $$;

CREATE SCHEMA IF NOT EXISTS penstock;
CREATE SCHEMA IF NOT EXISTS penstock_tail;
-- The tables of definitions that are built beside what is in force. No reader sees them.
CREATE SCHEMA IF NOT EXISTS penstock_build;

-- The statements that users have sent, in order: the queue of the engine, and the log of who did what.
CREATE TABLE IF NOT EXISTS penstock.statement (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  text text NOT NULL,
  author text NOT NULL,
  door text NOT NULL,
  state text NOT NULL DEFAULT 'waiting'
    CHECK (state IN ('waiting', 'running', 'done', 'refused', 'cancelled', 'expired')),
  answer jsonb,
  submitted timestamptz NOT NULL DEFAULT now(),
  started timestamptz,
  finished timestamptz
);
CREATE INDEX IF NOT EXISTS statement_waiting ON penstock.statement (id) WHERE state = 'waiting';

-- The statements in force: what a restart runs again. One statement makes a relation, or runs queries, or both.
CREATE TABLE IF NOT EXISTS penstock.definition (
  number bigint PRIMARY KEY,
  text text NOT NULL,
  author text NOT NULL,
  taken jsonb NOT NULL,
  paused boolean NOT NULL DEFAULT false,
  -- One checkpoint is never used by two statements.
  folder text NOT NULL
);

-- The statements that are built beside what is in force. All of one change take effect in one transaction.
CREATE TABLE IF NOT EXISTS penstock.building (
  number bigint PRIMARY KEY,
  -- The number of its first statement.
  change bigint NOT NULL,
  -- The definition that it takes the place of, NULL for a new one.
  replaces bigint,
  text text NOT NULL,
  author text NOT NULL,
  paused boolean NOT NULL DEFAULT false,
  folder text NOT NULL
);

CREATE TABLE IF NOT EXISTS penstock.relation (
  name text PRIMARY KEY,
  shown text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('STREAM', 'TABLE', 'VIEW')),
  definition text NOT NULL,
  author text NOT NULL,
  columns jsonb NOT NULL,
  version integer NOT NULL DEFAULT 1,
  created timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS penstock.query (
  name text PRIMARY KEY,
  relation text,
  definition text NOT NULL,
  author text NOT NULL,
  state text NOT NULL CHECK (state IN ('STARTING', 'RUNNING', 'PAUSED', 'RETRYING', 'HELD', 'STOPPED')),
  code text,
  message text,
  restarts integer NOT NULL DEFAULT 0,
  plan jsonb,
  status jsonb,
  since timestamptz NOT NULL DEFAULT now(),
  updated timestamptz NOT NULL DEFAULT now()
);

-- What each statement in force reads, makes and writes into. Names of relations are in lower case.
CREATE TABLE IF NOT EXISTS penstock.lineage (
  number bigint PRIMARY KEY REFERENCES penstock.definition ON DELETE CASCADE,
  relation text,
  query text,
  is_declared boolean NOT NULL,
  connector text,
  reads text[] NOT NULL,
  writes text[] NOT NULL
);

-- One row: the engine that runs, or ran last.
CREATE TABLE IF NOT EXISTS penstock.engine (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  state text NOT NULL CHECK (state IN ('STARTING', 'READY', 'STOPPED')),
  process integer NOT NULL,
  since timestamptz NOT NULL DEFAULT now(),
  seen timestamptz NOT NULL DEFAULT now()
);

-- Changes of tables, while somebody listens.
CREATE TABLE IF NOT EXISTS penstock.listener (
  relation text PRIMARY KEY,
  until timestamptz NOT NULL
);
CREATE TABLE IF NOT EXISTS penstock.change (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  relation text NOT NULL,
  batch bigint,
  op text NOT NULL CHECK (op IN ('insert', 'update', 'delete')),
  key jsonb,
  row jsonb,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX IF NOT EXISTS change_of_relation ON penstock.change (relation, seq);

-- A row for each relation whose changes are noted. No user may lock these rows.
CREATE TABLE IF NOT EXISTS penstock.change_order (
  relation text PRIMARY KEY
);

-- Is called after each statement that changes a table of Penstock. Its argument: the key columns, as JSON.
CREATE OR REPLACE FUNCTION penstock.note_changes() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  keys jsonb := TG_ARGV[0]::jsonb;
  shown text := TG_TABLE_NAME;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM penstock.listener WHERE relation = shown AND until > clock_timestamp()) THEN
    RETURN NULL;
  END IF;
  -- Changes of one relation are committed in the order of their numbers. Any user could take an advisory lock.
  PERFORM 1 FROM penstock.change_order WHERE relation = shown FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO penstock.change_order (relation) VALUES (shown) ON CONFLICT DO NOTHING;
    PERFORM 1 FROM penstock.change_order WHERE relation = shown FOR UPDATE;
  END IF;
  INSERT INTO penstock.change (relation, batch, op, key, row)
  SELECT shown, nullif(current_setting('penstock.batch', true), '')::bigint, lower(TG_OP),
    (SELECT coalesce(jsonb_object_agg(k, r.row -> k), '{}') FROM jsonb_array_elements_text(keys) AS k),
    CASE WHEN TG_OP = 'DELETE' THEN NULL ELSE r.row END
  FROM (SELECT to_jsonb(t) AS row FROM changed AS t) AS r;
  PERFORM pg_notify('penstock_change', shown);
  RETURN NULL;
END $$;

-- The tokens of HTTP. Only their SHA-256 is known.
CREATE TABLE IF NOT EXISTS penstock.token (
  hash bytea PRIMARY KEY,
  role text NOT NULL,
  created timestamptz NOT NULL DEFAULT now(),
  label text
);

-- Statements that users keep for each other. The door of HTTP writes them.
CREATE TABLE IF NOT EXISTS penstock.saved (
  name text PRIMARY KEY,
  text text NOT NULL,
  owner text NOT NULL,
  changed timestamptz NOT NULL DEFAULT now()
);

REVOKE ALL ON ALL TABLES IN SCHEMA penstock FROM PUBLIC;
GRANT USAGE ON SCHEMA penstock, penstock_tail TO penstock_reader;
REVOKE ALL ON ALL TABLES IN SCHEMA penstock FROM penstock_owner;
GRANT SELECT ON penstock.statement, penstock.listener TO penstock_owner;
GRANT SELECT, INSERT, UPDATE, DELETE ON penstock.token TO penstock_owner;
GRANT SELECT ON penstock.change TO penstock_owner;
GRANT SELECT ON ALL SEQUENCES IN SCHEMA penstock TO penstock_owner;
GRANT SELECT ON penstock.relation, penstock.query, penstock.lineage, penstock.engine, penstock.saved TO penstock_reader;
-- What a role sent itself; owners see all.
CREATE OR REPLACE VIEW penstock.statements WITH (security_barrier) AS
  SELECT id, text, author, door, state, submitted, started, finished, answer -> 'errors' AS errors
  FROM penstock.statement
  WHERE author = current_user OR pg_has_role(current_user, 'penstock_owner', 'MEMBER');
GRANT SELECT ON penstock.statements TO penstock_reader;
-- Readers see tables of Penstock from the first moment on.
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO penstock_reader;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO PUBLIC;
