UPDATE profiles SET n = profiles.n + o.n FROM STREAM ops AS o WHERE profiles.k = o.k ELSE INSERT (n) VALUES (0);
