SELECT DISTINCT p.id, p.name, time_bucket(INTERVAL 1 MINUTE, p.time) AS window_start
FROM person p JOIN auction a
  ON p.id = a.seller AND time_bucket(INTERVAL 1 MINUTE, p.time) = time_bucket(INTERVAL 1 MINUTE, a.time);
