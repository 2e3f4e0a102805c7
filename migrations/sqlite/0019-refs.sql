-- Refs by a number, so that the calls that use one are found by an index, and each text is kept once.
CREATE TABLE refs (
  ref_key INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  ref TEXT NOT NULL UNIQUE
) STRICT;

INSERT INTO refs (ref)
SELECT DISTINCT ref
FROM call_refs
ORDER BY ref;

CREATE TABLE keyed_call_refs (
  call_key INTEGER NOT NULL REFERENCES calls (call_key),
  is_output INTEGER NOT NULL CHECK (is_output IN (0, 1)),
  ref_key INTEGER NOT NULL REFERENCES refs (ref_key),
  PRIMARY KEY (call_key, is_output, ref_key)
) STRICT, WITHOUT ROWID;

INSERT INTO keyed_call_refs (call_key, is_output, ref_key)
SELECT
  call_refs.call_key,
  call_refs.side = 'output',
  refs.ref_key
FROM call_refs
CROSS JOIN refs ON refs.ref = call_refs.ref;

DROP TABLE call_refs;
ALTER TABLE keyed_call_refs RENAME TO call_refs;

CREATE INDEX call_refs_ref_key ON call_refs (ref_key, is_output, call_key);
