-- Who changed, deleted or exported what, and from where. Rows never change; their own retention removes the oldest.
CREATE TABLE audit_entries (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  created_at_us bigint NOT NULL,
  svc_user_id text NOT NULL,
  key_id text NOT NULL,
  -- Address of the other end of the connection, and what a proxy says of the client; null: no request.
  address text,
  forwarded_for text,
  action text NOT NULL,
  subject_id text NOT NULL,
  -- Project patterns; who reads the entry must own all of them.
  projects_json text NOT NULL,
  -- Never with a secret.
  before_json text,
  after_json text
);
CREATE INDEX audit_entries_created_at_us ON audit_entries (created_at_us, id);
CREATE INDEX audit_entries_svc_user_id ON audit_entries (svc_user_id, created_at_us, id);
CREATE INDEX audit_entries_action ON audit_entries (action, created_at_us, id);
