-- The schema reports: views of users over the tables of the server. The superuser runs it at every start, in the
-- database of a PostgreSQL that only Penstock uses, when the roles are there.
CREATE SCHEMA IF NOT EXISTS penstock_guard;
-- What the superuser reads and runs lies where nobody else writes.
ALTER SCHEMA penstock_guard OWNER TO CURRENT_USER;
REVOKE ALL ON SCHEMA penstock_guard FROM PUBLIC;
GRANT USAGE ON SCHEMA penstock_guard TO penstock_engine;

CREATE SCHEMA IF NOT EXISTS reports;
-- The owner of a schema may drop all that is in it.
ALTER SCHEMA reports OWNER TO penstock_owner;
GRANT USAGE ON SCHEMA reports TO penstock_reader;
-- Submitters may create in it only while they make a view: EXPLAIN ANALYZE CREATE TABLE is seen by no trigger.
REVOKE CREATE ON SCHEMA reports FROM penstock_submitter;

-- Views whose tables are replaced in this transaction. Between transactions it is empty.
DROP TABLE IF EXISTS penstock_guard.aside;
CREATE TABLE penstock_guard.aside (
  name name PRIMARY KEY,
  owner oid NOT NULL,
  maker oid,
  statements text[] NOT NULL
);

-- Who has made a view. REASSIGN OWNED, which no trigger sees, changes its owner, and this does not change.
CREATE TABLE IF NOT EXISTS penstock_guard.maker (view oid PRIMARY KEY, role oid NOT NULL);

-- Sessions in which a trigger runs statements of its own. Between statements it is empty.
CREATE TABLE IF NOT EXISTS penstock_guard.nested (pid integer PRIMARY KEY);

CREATE OR REPLACE FUNCTION penstock_guard.run_nested(statement text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
BEGIN
  INSERT INTO penstock_guard.nested VALUES (pg_backend_pid());
  EXECUTE statement;
  DELETE FROM penstock_guard.nested WHERE pid = pg_backend_pid();
END $$;

-- Before a user's statement about objects writes anything. Submitters make views, and nothing else. A role has one such
-- transaction at a time, and five such statements in a second: rows of the catalog that a rollback leaves behind take
-- space on the disk, which users cannot fill otherwise. DROP writes none.
CREATE OR REPLACE FUNCTION penstock_guard.begin_change() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
BEGIN
  IF session_user IN ('penstock_engine', current_user) OR TG_TAG ~ '^DROP (?!SCHEMA|OWNED)'
    OR EXISTS (SELECT FROM penstock_guard.nested WHERE pid = pg_backend_pid()) THEN
    RETURN;
  END IF;
  IF TG_TAG IN ('ALTER SCHEMA', 'DROP SCHEMA') THEN
    RAISE insufficient_privilege USING MESSAGE = 'schemas of the server stay as they are';
  ELSIF TG_TAG = 'DROP OWNED' THEN  -- which reaches schemas
    RAISE insufficient_privilege USING
      MESSAGE = 'users of the server do not send DROP OWNED', HINT = 'DROP VIEW reports.…';
  ELSIF TG_TAG NOT IN ('CREATE VIEW', 'ALTER VIEW', 'COMMENT', 'GRANT', 'REVOKE')
    AND NOT pg_has_role(session_user, 'penstock_owner', 'MEMBER') THEN
    RAISE insufficient_privilege USING MESSAGE = format('users make views in the schema reports, and no %s', TG_TAG);
  ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE feature_not_supported USING
      MESSAGE = 'views are made in transactions that are READ COMMITTED', HINT = 'BEGIN ISOLATION LEVEL READ COMMITTED';
  ELSIF octet_length(current_query()) > 20000 THEN
    RAISE program_limit_exceeded USING MESSAGE = 'the statement has more than 20,000 bytes';
  END IF;
  PERFORM pg_advisory_xact_lock(1, hashtext(session_user));
  PERFORM pg_sleep(0.2);
  IF TG_TAG IN ('CREATE VIEW', 'ALTER VIEW') THEN
    PERFORM pg_advisory_xact_lock(1, 0);  -- the rights of a schema are one row
    PERFORM penstock_guard.run_nested('GRANT CREATE ON SCHEMA reports TO penstock_submitter');
  END IF;
END $$;

-- After each command. What is in the schema afterwards is a view that gives its readers no more than their own rights.
CREATE OR REPLACE FUNCTION penstock_guard.check_reports() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
  each record;
  made pg_class;
  rule pg_rewrite;
  other text;
BEGIN
  IF EXISTS (SELECT FROM penstock_guard.nested WHERE pid = pg_backend_pid()) THEN
    RETURN;
  END IF;
  FOR each IN SELECT classid, objid, object_type, schema_name FROM pg_event_trigger_ddl_commands() LOOP
    SELECT * INTO made FROM pg_class WHERE relnamespace = 'reports'::regnamespace AND oid = CASE each.classid
      WHEN 'pg_class'::regclass THEN each.objid
      WHEN 'pg_trigger'::regclass THEN (SELECT tgrelid FROM pg_trigger WHERE oid = each.objid)
      WHEN 'pg_rewrite'::regclass THEN (SELECT ev_class FROM pg_rewrite WHERE oid = each.objid)
    END;
    IF made.relkind IS DISTINCT FROM 'v' AND (made.oid IS NOT NULL OR each.schema_name = 'reports') THEN
      RAISE insufficient_privilege USING
        MESSAGE = format('the schema reports takes views only, and no %s', each.object_type);
    END IF;
    CONTINUE WHEN made.oid IS NULL;

    IF made.relname ~ '[[:cntrl:]]' THEN
      RAISE invalid_name USING MESSAGE = 'the name of a view of reports has no control characters';
    ELSIF session_user <> 'penstock_engine' AND NOT (SELECT rolcanlogin FROM pg_roles WHERE oid = made.relowner) THEN
      RAISE insufficient_privilege USING
        MESSAGE = format('role %s cannot log in, and has no views in reports', made.relowner::regrole),
        HINT = 'RESET ROLE';
    ELSIF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = made.oid)
      OR EXISTS (SELECT FROM pg_attrdef WHERE adrelid = made.oid)
      OR (SELECT count(*) <> 1 FROM pg_rewrite WHERE ev_class = made.oid) THEN
      RAISE insufficient_privilege USING MESSAGE = 'a view of reports has no triggers, rules or defaults';
    ELSIF octet_length(pg_get_viewdef(made.oid)) > 200000 THEN
      RAISE program_limit_exceeded USING MESSAGE = 'the query of the view has more than 200,000 bytes';
    END IF;

    -- What PostgreSQL itself brings is in no dependency, so the tree of the query is searched. Texts in it have a
    -- backslash before each blank.
    SELECT * INTO STRICT rule FROM pg_rewrite WHERE ev_class = made.oid;
    SELECT format('%I.%I', nspname, relname) INTO other
    FROM regexp_matches(rule.ev_action::text, ':relid ([0-9]+)', 'g') AS m
    JOIN pg_class AS c ON c.oid = m[1]::oid JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.oid <> made.oid AND nspname <> 'public' LIMIT 1;
    IF other IS NOT NULL THEN
      RAISE insufficient_privilege USING
        MESSAGE = format('a view of reports reads tables of public, and not %s', other);
    END IF;
    SELECT format('%I.%I', nspname, proname) INTO other
    FROM regexp_matches(rule.ev_action::text, ':(opno|funcid|opfuncid|aggfnoid|winfnoid) ([0-9]+)', 'g') AS m
    LEFT JOIN pg_operator AS o ON m[1] = 'opno' AND o.oid = m[2]::oid
    JOIN pg_proc AS p ON p.oid = CASE m[1] WHEN 'opno' THEN o.oprcode::oid ELSE m[2]::oid END
    JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE provolatile = 'v' OR nspname <> 'pg_catalog' LIMIT 1;
    IF other IS NOT NULL THEN
      RAISE insufficient_privilege USING
        MESSAGE = format('a view of reports calls no volatile functions and none of users, such as %s', other),
        DETAIL = 'It would run with the rights of who reads the view.';
    END IF;
    SELECT pg_describe_object(refclassid, refobjid, refobjsubid) INTO other FROM pg_depend AS d
    WHERE (classid = 'pg_rewrite'::regclass AND objid = rule.oid OR classid = 'pg_class'::regclass AND objid = made.oid)
      AND NOT (refclassid = 'pg_class'::regclass AND (refobjid = made.oid OR EXISTS
        (SELECT FROM pg_class WHERE oid = refobjid AND relnamespace = 'public'::regnamespace)))
      AND NOT (refclassid = 'pg_namespace'::regclass AND refobjid = made.relnamespace
        AND classid = 'pg_class'::regclass)
      AND NOT (refclassid = 'pg_collation'::regclass) LIMIT 1;
    IF other IS NOT NULL THEN
      RAISE insufficient_privilege USING MESSAGE = format('a view of reports does not use %s', other);
    END IF;

    -- Rows of other roles stay, which a transaction of theirs may hold.
    DELETE FROM penstock_guard.maker
    WHERE role = made.relowner AND NOT EXISTS (SELECT FROM pg_class WHERE oid = view);
    INSERT INTO penstock_guard.maker VALUES (made.oid, made.relowner) ON CONFLICT DO NOTHING;
    IF (SELECT count(*) > 100 FROM penstock_guard.maker WHERE role =
        (SELECT role FROM penstock_guard.maker WHERE view = made.oid)) THEN
      RAISE configuration_limit_exceeded USING
        MESSAGE = 'a role has 100 views in reports, which is the limit', HINT = 'DROP VIEW reports.…';
    END IF;
    IF 'security_invoker=true' <> ALL (coalesce(made.reloptions, '{}')) THEN
      PERFORM penstock_guard.run_nested(
        format('ALTER VIEW reports.%I SET (security_invoker = true)', made.relname));
    END IF;
    IF made.relacl IS NULL THEN
      PERFORM penstock_guard.run_nested(format('GRANT SELECT ON reports.%I TO penstock_reader', made.relname));
    END IF;
  END LOOP;
  IF TG_TAG IN ('CREATE VIEW', 'ALTER VIEW') AND session_user NOT IN ('penstock_engine', current_user) THEN
    PERFORM penstock_guard.run_nested('REVOKE CREATE ON SCHEMA reports FROM penstock_submitter');
  END IF;
END $$;

-- Drops the views of reports that read these relations. The engine calls it before it drops these, or replaces them.
-- is_kept: the views are noted, to be made again.
CREATE OR REPLACE FUNCTION penstock_guard.put_aside(relations text[], is_kept boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
  each record;
BEGIN
  FOR each IN
    SELECT v.oid, relname, relowner, format('reports.%I', relname) AS name FROM pg_class AS v
    WHERE relnamespace = 'reports'::regnamespace AND relkind = 'v' AND EXISTS (
      SELECT FROM pg_depend JOIN pg_rewrite AS r ON classid = 'pg_rewrite'::regclass AND r.oid = objid
      WHERE ev_class = v.oid AND refclassid = 'pg_class'::regclass
        AND refobjid IN (SELECT to_regclass(name) FROM unnest(relations) AS name))
    ORDER BY relname
  LOOP
    -- A reader locks the view, and then its tables. So does this. LOCK TABLE would lock other tables of the view, too.
    EXECUTE format('ALTER VIEW %s SET (security_invoker = true)', each.name);
    IF is_kept THEN
      INSERT INTO penstock_guard.aside VALUES (
        each.relname, each.relowner, (SELECT role FROM penstock_guard.maker WHERE view = each.oid),
        penstock_guard.write_view(each.oid, each.name));
    END IF;
    DELETE FROM penstock_guard.maker WHERE view = each.oid;
    EXECUTE format('DROP VIEW %s', each.name);
  END LOOP;
END $$;

-- The statements that make a view again as it is: its query, comments, owner and rights.
CREATE OR REPLACE FUNCTION penstock_guard.write_view(view oid, name text) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
  SELECT array_agg(statement ORDER BY place, statement) FROM (
    -- The text is what PostgreSQL makes of a query that it has read: one SELECT, with a schema before each name.
    SELECT 1 AS place,
      format('CREATE VIEW %s WITH (%s) AS %s', name, array_to_string(reloptions, ', '), pg_get_viewdef(view)) AS statement
    FROM pg_class WHERE oid = view
    UNION ALL
    SELECT 2, CASE objsubid WHEN 0 THEN format('COMMENT ON VIEW %s IS %L', name, description)
      ELSE format('COMMENT ON COLUMN %s.%I IS %L', name, attname, description) END
    FROM pg_description LEFT JOIN pg_attribute ON attrelid = objoid AND attnum = objsubid AND attnum > 0
    WHERE objoid = view AND classoid = 'pg_class'::regclass
    UNION ALL
    SELECT 3, format('ALTER VIEW %s OWNER TO %s', name, relowner::regrole) FROM pg_class WHERE oid = view
    UNION ALL
    SELECT 4, format('REVOKE ALL ON %s FROM penstock_reader', name)
    UNION ALL
    SELECT 5, format('GRANT %s%s ON %s TO %s%s', privilege_type, columns, name,
      CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END,
      CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END)
    FROM (
      SELECT '' AS columns, relowner, rights.* FROM pg_class, aclexplode(relacl) AS rights WHERE oid = view
      UNION ALL
      SELECT format(' (%I)', attname), relowner, rights.*
      FROM pg_class AS c JOIN pg_attribute AS a ON attrelid = c.oid, aclexplode(attacl) AS rights WHERE c.oid = view
    ) AS given
    WHERE grantee <> relowner
  ) AS statements
$$;

-- Makes the views again that were put aside in this transaction. One that does not fit is an error.
CREATE OR REPLACE FUNCTION penstock_guard.put_back() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
  each penstock_guard.aside;
  statement text;
BEGIN
  FOR each IN DELETE FROM penstock_guard.aside RETURNING * LOOP
    BEGIN
      FOREACH statement IN ARRAY each.statements LOOP
        EXECUTE statement;
      END LOOP;
      UPDATE penstock_guard.maker SET role = coalesce(each.maker, each.owner)
      WHERE view = format('reports.%I', each.name)::regclass;
    EXCEPTION WHEN syntax_error_or_access_rule_violation OR program_limit_exceeded THEN
      RAISE dependent_objects_still_exist USING
        MESSAGE = format('the view reports.%I of %s does not fit: %s', each.name, each.owner::regrole, SQLERRM),
        HINT = format('DROP VIEW reports.%I', each.name);
    END;
  END LOOP;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA penstock_guard FROM PUBLIC;
GRANT EXECUTE ON FUNCTION penstock_guard.put_aside, penstock_guard.put_back TO penstock_engine;

DO $$
BEGIN
  CREATE EVENT TRIGGER penstock_begin_change ON ddl_command_start EXECUTE FUNCTION penstock_guard.begin_change();
EXCEPTION WHEN duplicate_object THEN NULL;
END $$;
DO $$
BEGIN
  CREATE EVENT TRIGGER penstock_check_reports ON ddl_command_end EXECUTE FUNCTION penstock_guard.check_reports();
EXCEPTION WHEN duplicate_object THEN NULL;
END $$;
