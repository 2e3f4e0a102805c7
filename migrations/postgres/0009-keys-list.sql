-- Keys are listed in parts, in the order in which they were made.
CREATE INDEX keys_created_at_us ON keys (created_at_us, id);
