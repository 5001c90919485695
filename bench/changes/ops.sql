CREATE STREAM ops (k BIGINT, n BIGINT, p DECIMAL(18, 2), s STRING, z TIMESTAMP)
  WITH (connector = 'files', path = '$data', format = 'parquet', files_per_batch = 1);
CREATE TABLE profiles (k BIGINT PRIMARY KEY, n BIGINT, p DECIMAL(18, 2), s STRING, z TIMESTAMP)
  WITH (connector = 'postgres', url = '$url', table = 'profiles');
