/** What a look at the health of the database reads: the ends of the trees that every request needs. */

/** The newest rows: they lie at the end of the file, where a database that was cut has nothing. */
export const READ_NEWEST = [
  'SELECT id FROM calls ORDER BY call_key DESC LIMIT 1',
  'SELECT call_key FROM call_bodies ORDER BY call_key DESC LIMIT 1',
  'SELECT id FROM calls ORDER BY project_key DESC LIMIT 1',
  'SELECT id FROM feedback ORDER BY feedback_key DESC LIMIT 1',
  'SELECT digest FROM json_values ORDER BY value_key DESC LIMIT 1',
  'SELECT id FROM keys ORDER BY id DESC LIMIT 1',
] as const
