-- Tickets of exports, by the hash of their tokens. Few and short-lived.
CREATE TABLE export_tickets (
  token_hash text NOT NULL PRIMARY KEY,
  key_id text NOT NULL,
  ticket_json text NOT NULL,
  expires_at_us bigint NOT NULL
);
