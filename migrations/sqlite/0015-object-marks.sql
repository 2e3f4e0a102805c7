-- Words that users put on versions of objects, and names that lead to one version of an object.
CREATE TABLE object_tags (
  object_key INTEGER NOT NULL REFERENCES objects (object_key),
  tag TEXT NOT NULL,
  PRIMARY KEY (object_key, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE object_aliases (
  project_id TEXT NOT NULL,
  object_id TEXT NOT NULL,
  alias TEXT NOT NULL,
  object_key INTEGER NOT NULL REFERENCES objects (object_key),
  PRIMARY KEY (project_id, object_id, alias)
) STRICT, WITHOUT ROWID;

CREATE INDEX object_aliases_object_key ON object_aliases (object_key, alias);
