-- What the relay puts in the place of statements of Penstock. The relay asks the engine. PostgreSQL answers with what the
-- engine said, so that transactions, portals and prepared statements are those of PostgreSQL.
-- Anyone may call these functions. They show what they are given.

CREATE SCHEMA IF NOT EXISTS penstock;
GRANT USAGE ON SCHEMA penstock TO PUBLIC;

CREATE OR REPLACE FUNCTION penstock.report(answer jsonb) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog
AS $$
DECLARE
    notice text;
BEGIN
    IF answer ? 'ask' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PK001',
            MESSAGE = 'the statement of Penstock was not asked for when the relay looked',
            DETAIL = answer ->> 'ask',
            HINT = 'send the statement again';
    END IF;
    IF answer ? 'message' THEN
        RAISE EXCEPTION USING
            ERRCODE = answer ->> 'sqlstate',
            MESSAGE = answer ->> 'message',
            DETAIL = answer ->> 'detail',
            HINT = answer ->> 'hint';
    END IF;
    FOR notice IN SELECT jsonb_array_elements_text(answer -> 'notices') LOOP
        RAISE WARNING '%', notice;
    END LOOP;
END;
$$;
COMMENT ON FUNCTION penstock.report(jsonb) IS 'Raises the error or the warnings of an answer of the engine.';

CREATE OR REPLACE PROCEDURE penstock.finish(answer jsonb)
LANGUAGE plpgsql
SET search_path = pg_catalog
AS $$
BEGIN
    PERFORM penstock.report(answer);
END;
$$;
COMMENT ON PROCEDURE penstock.finish(jsonb) IS 'What a statement without rows answers.';

CREATE OR REPLACE FUNCTION penstock.answer(answer jsonb) RETURNS SETOF jsonb
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog
AS $$
BEGIN
    PERFORM penstock.report(answer);
    RETURN QUERY SELECT jsonb_array_elements(answer -> 'rows');
END;
$$;
COMMENT ON FUNCTION penstock.answer(jsonb) IS 'The rows of an answer of the engine.';

-- Carries a statement out, and takes back what it has done.
CREATE OR REPLACE FUNCTION penstock.find_asked(statement text) RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
    place text;
BEGIN
    BEGIN
        EXECUTE statement;
        RAISE EXCEPTION USING ERRCODE = 'PK002';
    EXCEPTION
        WHEN SQLSTATE 'PK002' THEN
            RETURN -1;
        WHEN SQLSTATE 'PK001' THEN
            GET STACKED DIAGNOSTICS place = PG_EXCEPTION_DETAIL;
            RETURN place::integer;
    END;
END;
$$;
COMMENT ON FUNCTION penstock.find_asked(text) IS 'The first call of penstock.run that a statement carries out, -1 if it does none.';

CREATE OR REPLACE FUNCTION penstock.run(answer jsonb) RETURNS TABLE (line text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog
AS $$
BEGIN
    PERFORM penstock.report(answer);
    RETURN QUERY SELECT jsonb_array_elements_text(answer -> 'lines');
END;
$$;
COMMENT ON FUNCTION penstock.run(jsonb) IS 'The lines of an answer of the engine.';

CREATE OR REPLACE FUNCTION penstock.run(statement text) RETURNS TABLE (line text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog
AS $$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = '0A000',
        MESSAGE = 'penstock.run is not available here',
        HINT = 'connect to the address of penstock serve, and give the statement as a constant or as a parameter of a '
            'SELECT';
END;
$$;
COMMENT ON FUNCTION penstock.run(text) IS 'Runs a statement of Penstock. The relay of penstock serve takes these calls.';
