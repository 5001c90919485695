"""What Superset needs to run for a test: its own tables are in a file of SUPERSET_HOME."""

import os
import secrets

SECRET_KEY = secrets.token_hex(32)
SQLALCHEMY_DATABASE_URI = f"sqlite:///{os.environ['SUPERSET_HOME']}/superset.db"
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
RATELIMIT_ENABLED = False
