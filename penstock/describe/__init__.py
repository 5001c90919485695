"""Files, topics and tables of databases -> a declaration of them: types, event time, delay, and the first rows."""
