-- What users of a PostgreSQL that only Penstock uses may not do: fill its disk, hold locks that have no table, run code.
-- The superuser runs it at every start, in the database of the server.
DO $$
DECLARE
  each regprocedure;
BEGIN
  FOR each IN
    SELECT oid FROM pg_catalog.pg_proc
    WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f'
      AND (proname ~ '^(pg_(try_)?advisory_|lo_|pg_create_.*_slot$|pg_copy_.*_slot$)'
        OR proname IN ('loread', 'lowrite', 'pg_logical_emit_message', 'pg_export_snapshot'))
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', each);
  END LOOP;
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
END $$;
REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC;
REVOKE USAGE ON LANGUAGE plpgsql, sql FROM PUBLIC;
GRANT USAGE ON LANGUAGE plpgsql, sql TO penstock_engine;
