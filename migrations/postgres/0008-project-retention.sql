-- How long projects keep their calls: null is for ever. Projects without a row have the server's default.
CREATE TABLE project_retention (
  project_id text COLLATE "C" NOT NULL PRIMARY KEY,
  retention_days integer
);
