/** Versions of objects on the page: their kinds, labels and refs. */
import type { ObjectSchema } from '../../schemas/objects/object.ts'
import { refScheme } from '../api/ref-scheme.ts'

export type ObjectVersion = ObjectSchema

/** Base classes of the clients, and the name of the kind in the address. */
const CLASSES: Readonly<Record<string, string>> = {
  Dataset: 'datasets',
  Prompt: 'prompts',
  Model: 'models',
  Scorer: 'scorers',
  Evaluation: 'evaluations',
}

export const KINDS = [
  { kind: 'datasets', label: 'Datasets' },
  { kind: 'prompts', label: 'Prompts' },
  { kind: 'models', label: 'Models' },
  { kind: 'scorers', label: 'Scorers' },
  { kind: 'evaluations', label: 'Evaluations' },
  { kind: 'ops', label: 'Ops' },
  { kind: 'others', label: 'Others' },
] as const

export function kindOf({ kind, base_object_class }: ObjectVersion): string {
  if (kind === 'op') return 'ops'
  return CLASSES[base_object_class ?? ''] ?? 'others'
}

/** Returns the label of a version's class. */
export function classLabel({ kind, leaf_object_class }: ObjectVersion): string {
  return kind === 'op' ? 'op' : (leaf_object_class ?? 'object')
}

/** Returns the ref of a version. */
export function refOf({ project_id, kind, object_id, digest }: ObjectVersion): string {
  return `${refScheme()}:///${project_id}/${kind === 'op' ? 'op' : 'object'}/${object_id}:${digest}`
}
