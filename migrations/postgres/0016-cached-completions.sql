-- Completions that are replayed to the same request, by the digest of the request.
CREATE TABLE cached_completions (
  digest text COLLATE "C" NOT NULL PRIMARY KEY,
  created_at_us bigint NOT NULL,
  expires_at_us bigint NOT NULL,
  bytes bigint NOT NULL,
  response_json text NOT NULL
);
CREATE INDEX cached_completions_created_at_us ON cached_completions (created_at_us, digest);
CREATE INDEX cached_completions_expires_at_us ON cached_completions (expires_at_us);

-- Its only row has the sum of their bytes.
CREATE TABLE cached_completion_totals (
  id bigint NOT NULL PRIMARY KEY,
  bytes bigint NOT NULL
);
INSERT INTO cached_completion_totals (id, bytes) VALUES (1, 0);
