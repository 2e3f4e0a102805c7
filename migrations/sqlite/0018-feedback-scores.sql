-- What a scorer says, and the span that it is about: JSON of the fields that were given.
ALTER TABLE feedback ADD COLUMN scores_json TEXT;
