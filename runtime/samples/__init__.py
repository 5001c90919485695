"""Records of a place as they stand there, and as a declaration types them: without Spark, and only as many as are asked
for.

It reads files of this machine, and the newest messages of a topic.
"""
