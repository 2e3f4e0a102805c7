-- Passwords of people who sign in without an identity provider, as argon2id in the PHC format; null: none.
ALTER TABLE people ADD COLUMN password_hash TEXT;
ALTER TABLE people ADD COLUMN password_set_at_us INTEGER;
-- SHA-256 in hex of the secret of a link that sets the password once; null: none.
ALTER TABLE people ADD COLUMN link_hash TEXT;
ALTER TABLE people ADD COLUMN link_expires_at_us INTEGER;
CREATE UNIQUE INDEX people_link_hash ON people (link_hash);
