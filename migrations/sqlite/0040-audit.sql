-- Who changed, deleted or exported what, and from where. Rows never change; their own retention removes the oldest.
CREATE TABLE audit_entries (
  id TEXT NOT NULL PRIMARY KEY,
  created_at_us INTEGER NOT NULL,
  svc_user_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  -- Address of the other end of the connection, and what a proxy says of the client; null: no request.
  address TEXT,
  forwarded_for TEXT,
  action TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  -- Project patterns; who reads the entry must own all of them.
  projects_json TEXT NOT NULL,
  -- Never with a secret.
  before_json TEXT,
  after_json TEXT
) STRICT;
CREATE INDEX audit_entries_created_at_us ON audit_entries (created_at_us, id);
CREATE INDEX audit_entries_svc_user_id ON audit_entries (svc_user_id, created_at_us, id);
CREATE INDEX audit_entries_action ON audit_entries (action, created_at_us, id);
