-- API keys: who may call, with which rights, on which projects. The secret itself is never stored.
CREATE TABLE keys (
  id TEXT NOT NULL PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  svc_user_id TEXT NOT NULL,
  svc_username TEXT NOT NULL,
  scopes_json TEXT NOT NULL,
  projects_json TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  revoked_at_us INTEGER
) STRICT;
