-- Forms that Penstock accepts, with a warning where they mean something else in ksqlDB.

-- name: ROUND
CREATE STREAM v AS SELECT id, ROUND(score) AS a FROM events EMIT CHANGES;
-- warned: T020, FLOOR(score + 0.5)
-- same as
CREATE STREAM v AS SELECT STREAM id, ROUND(score) AS a FROM events;

-- name: a variable in a text
CREATE STREAM v AS SELECT id FROM events WHERE kind = '${name}' EMIT CHANGES;
-- warned: T020, '$' || '{name}'
-- same as
CREATE STREAM v AS SELECT STREAM id FROM events WHERE kind = '${name}';
