-- Responses that are kept to be read again and gone on from. They belong to a project, or without one to a key.
CREATE TABLE responses (
  id TEXT NOT NULL PRIMARY KEY,
  project_id TEXT,
  key_id TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  previous_response_id TEXT,
  -- As it was answered.
  response_json TEXT NOT NULL,
  -- The items of its own input, each with an id.
  input_json TEXT NOT NULL
) STRICT;
