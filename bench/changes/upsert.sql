INSERT INTO profiles SELECT STREAM k, n, p, s, z FROM ops;
