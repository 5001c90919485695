"""Plans built by hand, histories as files, and rows compared: what tests of the evaluator and of Spark share."""
