/** The ref of a version. */
import { refScheme } from '../api/ref-scheme.ts'
import type { ObjectVersion } from './kinds.ts'

export function refOf({ project_id, kind, object_id, digest }: ObjectVersion): string {
  return `${refScheme()}:///${project_id}/${kind === 'op' ? 'op' : 'object'}/${object_id}:${digest}`
}
