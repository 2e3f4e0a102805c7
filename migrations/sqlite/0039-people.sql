-- Who signs in at an identity provider. An invited person has no issuer and subject before the first sign-in.
CREATE TABLE people (
  id TEXT NOT NULL PRIMARY KEY,
  issuer TEXT,
  subject TEXT,
  email TEXT,
  name TEXT,
  -- Roles by project patterns: what admins gave, and what the claims of the last sign-in gave.
  grants_json TEXT NOT NULL,
  claim_grants_json TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  signed_in_at_us INTEGER,
  -- Sessions that began before are over.
  sessions_from_us INTEGER NOT NULL,
  disabled_at_us INTEGER
) STRICT;
CREATE UNIQUE INDEX people_subject ON people (issuer, subject);
CREATE UNIQUE INDEX people_email ON people (email);
CREATE INDEX people_created_at_us ON people (created_at_us, id);
