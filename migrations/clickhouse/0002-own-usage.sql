-- What calls used themselves, noted beside what they report, and what tells whether that still holds.
-- `report_mark` is a number of a report below another call, `nested_mark` the sum of those that a call took its own from:
-- where the sums of a slot are equal, so are the reports. Rows without marks of their own make their slots unequal.
ALTER TABLE calls{on_cluster}
  ADD COLUMN IF NOT EXISTS id_slot UInt16 MATERIALIZED toUInt16(cityHash64(id)),
  ADD COLUMN IF NOT EXISTS parent_slot UInt16 MATERIALIZED toUInt16(cityHash64(ifNull(parent_id, ''))),
  ADD COLUMN IF NOT EXISTS report_mark UInt64 DEFAULT ifNull(notEmpty(usage.model) AND parent_id != id, 0),
  ADD COLUMN IF NOT EXISTS nested_mark UInt64,
  ADD COLUMN IF NOT EXISTS has_own UInt8,
  ADD COLUMN IF NOT EXISTS `own.model` Array(String),
  ADD COLUMN IF NOT EXISTS `own.input_tokens` Array(UInt64),
  ADD COLUMN IF NOT EXISTS `own.uncached_input_tokens` Array(UInt64),
  ADD COLUMN IF NOT EXISTS `own.output_tokens` Array(UInt64),
  ADD COLUMN IF NOT EXISTS `own.total_tokens` Array(UInt64),
  ADD COLUMN IF NOT EXISTS `own.cache_read_input_tokens` Array(UInt64),
  ADD COLUMN IF NOT EXISTS `own.cache_creation_input_tokens` Array(UInt64);
