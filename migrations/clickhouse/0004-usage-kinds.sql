-- Tokens by kind: what is paid at a price of its own is counted by itself. Reports stored before have none of them.
ALTER TABLE calls{on_cluster}
  ADD COLUMN IF NOT EXISTS `usage.input_audio_tokens` Array(UInt64),
  ADD COLUMN IF NOT EXISTS `usage.input_image_tokens` Array(UInt64),
  ADD COLUMN IF NOT EXISTS `usage.cache_read_audio_tokens` Array(UInt64),
  ADD COLUMN IF NOT EXISTS `usage.cache_creation_1h_input_tokens` Array(UInt64),
  ADD COLUMN IF NOT EXISTS `usage.reasoning_tokens` Array(UInt64),
  ADD COLUMN IF NOT EXISTS `usage.output_audio_tokens` Array(UInt64),
  ADD COLUMN IF NOT EXISTS `usage.output_image_tokens` Array(UInt64),
  ADD COLUMN IF NOT EXISTS `own.input_audio_tokens` Array(UInt64),
  ADD COLUMN IF NOT EXISTS `own.input_image_tokens` Array(UInt64),
  ADD COLUMN IF NOT EXISTS `own.cache_read_audio_tokens` Array(UInt64),
  ADD COLUMN IF NOT EXISTS `own.cache_creation_1h_input_tokens` Array(UInt64),
  ADD COLUMN IF NOT EXISTS `own.reasoning_tokens` Array(UInt64),
  ADD COLUMN IF NOT EXISTS `own.output_audio_tokens` Array(UInt64),
  ADD COLUMN IF NOT EXISTS `own.output_image_tokens` Array(UInt64);
