/** Runs steps that PostgreSQL shares with SQLite, one statement after the other. */
import type { Step, Steps } from '../../base/db/steps.ts'
import type { Statements } from './client.ts'

/** @param db - without a transaction, each step is one of its own */
export async function runSteps<T>(db: Statements, steps: Steps<T>): Promise<T> {
  let step = steps.next()
  while (step.done !== true) step = steps.next(await answer(db, step.value))
  return step.value
}

function answer(db: Statements, { sql, parameters, wants }: Step): Promise<unknown> {
  if (wants === 'all') return db.all(sql, parameters)
  return wants === 'first' ? db.first(sql, parameters) : db.run(sql, parameters)
}
