/** All preparations, by the names under which the thread of large bodies runs them. */
import {
  prepareCompleted,
  prepareEnd,
  prepareStart,
  prepareUpserts,
} from '../calls/call-preparations.ts'
import { prepareObject, prepareTable, prepareTableUpdate } from '../objects/object-preparations.ts'
import type { Preparation } from './preparation.ts'

const PREPARATIONS = {
  start: prepareStart,
  end: prepareEnd,
  upserts: prepareUpserts,
  completed: prepareCompleted,
  object: prepareObject,
  table: prepareTable,
  tableUpdate: prepareTableUpdate,
} as const

export type PreparationName = keyof typeof PREPARATIONS

/** What a preparation returns. */
export type Prepared<Name extends PreparationName> = Awaited<
  ReturnType<(typeof PREPARATIONS)[Name]['prepare']>
>

/** A preparation, whatever its types. */
export function preparationOf(name: PreparationName): Preparation<unknown, unknown> {
  return PREPARATIONS[name] as Preparation<unknown, unknown>
}
