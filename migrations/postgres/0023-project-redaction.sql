-- What is redacted in the data of projects before it is stored: JSON. Projects without a row redact nothing.
CREATE TABLE project_redaction (
  project_id text COLLATE "C" NOT NULL PRIMARY KEY,
  rules_json text NOT NULL
);
