UPDATE profiles SET n = o.n, s = o.s FROM ops AS o WHERE profiles.k = o.k ELSE INSERT (p) VALUES (0);
