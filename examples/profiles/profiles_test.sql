TEST 'orders meet the profiles of their customers' OF 'profiles.sql';
GIVEN TABLE profiles (customer, name, city) VALUES (1, 'Ada', 'London');
GIVEN orders (id, customer, product) VALUES (7, 1, 'lamp'), (8, 2, 'desk');
THEN shipments VALUES (7, 'lamp', 'Ada', 'London'), (8, 'desk', NULL, NULL);
GIVEN TABLE profiles (customer, name, city) VALUES (1, 'Ada', 'Paris');
GIVEN orders (id, customer, product) VALUES (9, 1, 'chair');
THEN shipments (id, city) VALUES (7, 'London'), (8, NULL), (9, 'Paris');
