-- Ratings of movies, joined with their titles.
CREATE TABLE movies (id INT PRIMARY KEY, title VARCHAR, release_year INT)
  WITH (KAFKA_TOPIC = 'movies', PARTITIONS = 1, VALUE_FORMAT = 'JSON', KEY_FORMAT = 'JSON');

CREATE STREAM ratings (movie_id INT KEY, rating DOUBLE, rated TIMESTAMP)
  WITH (KAFKA_TOPIC = 'ratings', PARTITIONS = 1, VALUE_FORMAT = 'JSON', KEY_FORMAT = 'JSON', TIMESTAMP = 'rated');

CREATE STREAM rated_movies WITH (KAFKA_TOPIC = 'rated_movies', VALUE_FORMAT = 'JSON') AS
  SELECT ratings.movie_id AS id, title, rating
  FROM ratings
  LEFT JOIN movies ON ratings.movie_id = movies.id
  EMIT CHANGES;

CREATE TABLE rating_count AS
  SELECT movie_id, COUNT(*) AS rating_count, AVG(rating) AS mean
  FROM ratings
  WINDOW TUMBLING (SIZE 6 HOURS)
  GROUP BY movie_id
  EMIT CHANGES;
