/** The reads of a health check: the ends of the b-trees that every request needs. */

/** Reads the newest rows: they are at the end of the file, which a truncated database does not have. */
export const READ_NEWEST = [
  'SELECT id FROM calls ORDER BY call_key DESC LIMIT 1',
  'SELECT call_key FROM call_bodies ORDER BY call_key DESC LIMIT 1',
  'SELECT id FROM calls ORDER BY project_key DESC LIMIT 1',
  'SELECT id FROM feedback ORDER BY feedback_key DESC LIMIT 1',
  'SELECT digest FROM json_values ORDER BY value_key DESC LIMIT 1',
  'SELECT id FROM keys ORDER BY id DESC LIMIT 1',
] as const
