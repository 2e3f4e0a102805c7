/** Runs steps that PostgreSQL shares with SQLite, one statement after the other. */
import type { Step, StepRuns, Steps } from '../../base/db/steps.ts'
import type { Postgres, Statements } from './client.ts'

/**
 * @param db - without a transaction, each step is one of its own
 * @param checkpoint - called before each statement
 */
export async function runSteps<T>(
  db: Statements,
  steps: Steps<T>,
  checkpoint: () => void = () => {},
): Promise<T> {
  let step = steps.next()
  while (step.done !== true) {
    checkpoint()
    step = steps.next(await answer(db, step.value))
  }
  return step.value
}

/** Runs reads and writes of one statement, each as a transaction of its own. */
export function createStepRuns<Shared>(db: Statements, writes: Shared): StepRuns<Shared> {
  return {
    read: (steps) => runSteps(db, steps),
    write: (name, input) =>
      runSteps(db, (writes[name] as (input: never) => Steps<never>)(input as never)),
  }
}

/** The same for writes of several statements. */
export function createTransactionRuns<Shared>(db: Postgres, writes: Shared): StepRuns<Shared> {
  return {
    read: (steps) => runSteps(db, steps),
    write: (name, input) => db.transaction((tx) => createStepRuns(tx, writes).write(name, input)),
  }
}

function answer(db: Statements, { sql, parameters, wants }: Step): Promise<unknown> {
  if (wants === 'all') return db.all(sql, parameters)
  return wants === 'first' ? db.first(sql, parameters) : db.run(sql, parameters)
}
