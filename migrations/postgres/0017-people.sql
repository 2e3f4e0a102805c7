-- Who signs in at an identity provider. An invited person has no issuer and subject before the first sign-in.
CREATE TABLE people (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  issuer text,
  subject text,
  email text,
  name text,
  -- Roles by project patterns: what admins gave, and what the claims of the last sign-in gave.
  grants_json text NOT NULL,
  claim_grants_json text NOT NULL,
  created_at_us bigint NOT NULL,
  signed_in_at_us bigint,
  -- Sessions that began before are over.
  sessions_from_us bigint NOT NULL,
  disabled_at_us bigint
);
CREATE UNIQUE INDEX people_subject ON people (issuer, subject);
CREATE UNIQUE INDEX people_email ON people (email);
CREATE INDEX people_created_at_us ON people (created_at_us, id);
