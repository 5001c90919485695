CREATE STREAM ops (k BIGINT, n BIGINT)
  WITH (connector = 'files', path = '$data', format = 'parquet', files_per_batch = 1);
CREATE TABLE profiles (k BIGINT PRIMARY KEY, n BIGINT, p DECIMAL(18, 2), s STRING, z TIMESTAMP)
  WITH (connector = 'postgres', url = '$url', table = 'profiles', batch_size = $keys);
CREATE STREAM found (k BIGINT, n BIGINT, name STRING, p DECIMAL(18, 2))
  WITH (connector = 'files', path = '$out', format = 'parquet');
INSERT INTO found
SELECT STREAM o.k AS k, o.n AS n, r.s AS name, r.p AS p FROM ops AS o LEFT JOIN profiles AS r ON o.k = r.k;
