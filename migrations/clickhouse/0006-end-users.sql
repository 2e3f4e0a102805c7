-- The end user for whom a call was made, as its attributes or its request name them; NULL: not named. Of older rows it is
-- read from their attributes whenever it is asked for, until a merge writes it down. An older row of an end alone has none.
ALTER TABLE calls{on_cluster}
  ADD COLUMN IF NOT EXISTS end_user_id Nullable(String) DEFAULT nullIf(coalesce(nullIf(JSONExtractString(ifNull(attributes_json, ''), 'end_user_id'), ''), nullIf(JSONExtractString(ifNull(attributes_json, ''), 'user'), ''), nullIf(JSONExtractString(ifNull(attributes_json, ''), 'user', 'id'), ''), JSONExtractString(ifNull(attributes_json, ''), 'user_id')), '');
