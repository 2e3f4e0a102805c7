-- Completions that are replayed to the same request, by the digest of the request.
CREATE TABLE cached_completions (
  digest TEXT NOT NULL PRIMARY KEY,
  created_at_us INTEGER NOT NULL,
  expires_at_us INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  response_json TEXT NOT NULL
) STRICT;
CREATE INDEX cached_completions_created_at_us ON cached_completions (created_at_us, digest);
CREATE INDEX cached_completions_expires_at_us ON cached_completions (expires_at_us);

-- Its only row has the sum of their bytes.
CREATE TABLE cached_completion_totals (
  id INTEGER NOT NULL PRIMARY KEY,
  bytes INTEGER NOT NULL
) STRICT;
INSERT INTO cached_completion_totals (id, bytes) VALUES (1, 0);
