-- The schema `penstock` as far as the HTTP door reads it, the roles, and a few tables of users.
CREATE ROLE penstock_reader NOLOGIN;
CREATE ROLE penstock_submitter NOLOGIN IN ROLE penstock_reader;
CREATE ROLE penstock_owner NOLOGIN IN ROLE penstock_submitter;
CREATE ROLE rita LOGIN IN ROLE penstock_reader;
CREATE ROLE sam LOGIN IN ROLE penstock_submitter;
CREATE ROLE olga LOGIN IN ROLE penstock_owner;
CREATE ROLE door LOGIN CREATEROLE;
GRANT rita, sam, olga TO door WITH INHERIT FALSE, SET TRUE, ADMIN TRUE;

CREATE SCHEMA penstock;
CREATE SCHEMA reports;
GRANT USAGE ON SCHEMA reports TO penstock_reader;
GRANT CREATE ON SCHEMA reports TO penstock_submitter;
CREATE TABLE penstock.token (
  hash bytea PRIMARY KEY, role text NOT NULL, created timestamptz NOT NULL DEFAULT now(), label text);
CREATE TABLE penstock.engine (state text, since timestamptz, seen timestamptz);
CREATE TABLE penstock.statement (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text, author text, door text, state text, answer jsonb,
  submitted timestamptz, started timestamptz, finished timestamptz);
CREATE VIEW penstock.statements WITH (security_barrier) AS
  SELECT id, text, author, door, state, submitted, started, finished, answer -> 'errors' AS errors
  FROM penstock.statement
  WHERE author = current_user OR pg_has_role(current_user, 'penstock_owner', 'MEMBER');
CREATE TABLE penstock.relation (
  name text PRIMARY KEY, shown text, kind text, definition text, author text, columns jsonb, version int,
  created timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE TABLE penstock.query (
  name text PRIMARY KEY, relation text, definition text, author text, state text, code text, message text,
  restarts int NOT NULL DEFAULT 0, plan jsonb, status jsonb, since timestamptz NOT NULL DEFAULT now(),
  updated timestamptz NOT NULL DEFAULT now());
CREATE TABLE penstock.lineage (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, relation text, query text, is_declared boolean NOT NULL,
  connector text, reads text[] NOT NULL DEFAULT '{}', writes text[] NOT NULL DEFAULT '{}');
CREATE TABLE penstock.change (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, relation text, batch bigint, op text, key jsonb, row jsonb,
  at timestamptz NOT NULL DEFAULT now());
CREATE TABLE penstock.change_order (relation text PRIMARY KEY);
CREATE TABLE penstock.listener (relation text PRIMARY KEY, until timestamptz NOT NULL);
CREATE TABLE penstock.saved (
  name text PRIMARY KEY, text text NOT NULL, owner text NOT NULL, changed timestamptz NOT NULL DEFAULT now());

GRANT USAGE ON SCHEMA penstock TO penstock_reader, door;
GRANT SELECT ON penstock.statements, penstock.relation, penstock.query, penstock.lineage, penstock.saved
  TO penstock_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON penstock.saved TO door;
GRANT SELECT ON penstock.token, penstock.engine, penstock.change TO door;
GRANT USAGE, SELECT ON SEQUENCE penstock.change_seq_seq TO door;
GRANT SELECT, INSERT, UPDATE ON penstock.listener TO door;

-- The changes of one relation get their numbers in the order in which they are committed.
CREATE FUNCTION penstock.log_changes() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF EXISTS (SELECT FROM penstock.listener WHERE relation = TG_TABLE_NAME AND until > now()) THEN
    INSERT INTO penstock.change_order (relation) VALUES (TG_TABLE_NAME) ON CONFLICT DO NOTHING;
    PERFORM 1 FROM penstock.change_order WHERE relation = TG_TABLE_NAME FOR UPDATE;
    INSERT INTO penstock.change (relation, batch, op, key, row)
      SELECT TG_TABLE_NAME, coalesce(current_setting('penstock.batch', true), '0')::bigint, lower(TG_OP),
             jsonb_build_object('product', changed.product), to_jsonb(changed) FROM changed;
    PERFORM pg_notify('penstock_change', TG_TABLE_NAME);
  END IF;
  RETURN NULL;
END $$;

CREATE TABLE public.totals (product text PRIMARY KEY, total numeric(10, 2), n bigint);
CREATE TRIGGER inserted AFTER INSERT ON public.totals REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION penstock.log_changes();
CREATE TRIGGER updated AFTER UPDATE ON public.totals REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION penstock.log_changes();
CREATE TRIGGER deleted AFTER DELETE ON public.totals REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION penstock.log_changes();
CREATE TABLE public.views_per_minute (
  window_start timestamptz, window_end timestamptz, page text, n bigint, PRIMARY KEY (window_start, page));
CREATE TABLE public.every_type (
  id int PRIMARY KEY, flag boolean, small smallint, big bigint, single real, double double precision,
  money numeric(12, 3), digits numeric, word text, day date, at timestamptz, clock time, raw bytea, doc jsonb,
  list int[], uuid uuid);
CREATE TABLE public.visits (page text, code int, n int NOT NULL, UNIQUE NULLS NOT DISTINCT (page, n, code));
CREATE TABLE public.total (n bigint);
CREATE UNIQUE INDEX ON public.total ((true));
CREATE TABLE public.secrets (id int PRIMARY KEY, word text);
CREATE VIEW public.newest AS SELECT product, n FROM public.totals;
CREATE TABLE public."Mixed Case" ("Id" int PRIMARY KEY, "limit" int);
GRANT SELECT ON public.totals, public.views_per_minute, public.every_type, public.newest, public."Mixed Case",
  public.visits, public.total
  TO penstock_reader;
