-- Tickets of exports, by the hash of their tokens. Few and short-lived.
CREATE TABLE export_tickets (
  token_hash TEXT NOT NULL PRIMARY KEY,
  key_id TEXT NOT NULL,
  ticket_json TEXT NOT NULL,
  expires_at_us INTEGER NOT NULL
) STRICT;
