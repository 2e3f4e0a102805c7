-- How long projects keep their calls: null is for ever. Projects without a row have the server's default.
CREATE TABLE project_retention (
  project_id TEXT NOT NULL PRIMARY KEY,
  retention_days INTEGER
) STRICT;
