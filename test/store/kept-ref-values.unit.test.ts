import { expect, it } from 'vitest'
import { resolveCallsSelection } from '../../src/domain/calls/calls-query.ts'
import type { Steps } from '../../src/store/base/db/steps.ts'
import { createRefSteps } from '../../src/store/base/objects/ref-values.ts'
import { createJoinedDataOf } from '../../src/store/postgres/calls/call-joins.ts'
import { readCaller } from '../support/read-caller.ts'

const project_id = 'acme/demo'
/** More contents than are kept at a time: 32 of their size. */
const CONTENTS = 40
const val_json = JSON.stringify({ name: 'a', text: 'x'.repeat(1024 * 1024) })

/** What a database answers that has any version of an object, and a long table. */
function answer(sql: string): object {
  if (sql.includes('FROM tables')) return { table_key: 1, project_id, row_count: CONTENTS }
  if (sql.includes('val_json')) return { val_json }
  return { digest: 'd', deleted_at_us: null }
}

function runAll<T>(steps: Steps<T>): T {
  let step = steps.next()
  while (step.done !== true) step = steps.next(answer(step.value.sql))
  return step.value
}

it('table rows count towards the cache of contents for refs', () => {
  let released = 0
  const onClear = () => {
    released += 1
  }
  const read = createRefSteps({ projects: ['*'], keyIn: (_block, place) => place, onClear })
  const refOf = (row: number) => `weave:///${project_id}/table/${'d'.repeat(43)}/index/${row}`
  for (let row = 0; row < CONTENTS; row++) expect(runAll(read(refOf(row)))).toBeDefined()
  expect(released).toBe(1)
})

it('values of refs are evicted with their contents, and read again when needed', async () => {
  const asked: string[] = []
  const db = {
    first: async (sql: string, { version_index }: { version_index?: number }) => {
      if (version_index === undefined) return answer(sql)
      asked.push(`v${version_index}`)
      return { digest: `d${version_index}`, deleted_at_us: null }
    },
  }
  const reach = { refScheme: 'weave', projects: ['*'] }
  const selection = resolveCallsSelection({ project_id, expand_columns: ['inputs.model'] }, reach)
  const { prepare, beside } = createJoinedDataOf(db as never)(selection)
  const refOf = (version: number) => `weave:///${project_id}/object/m:v${version}`
  const prepareOne = (version: number) => {
    const call = { project_id, inputs_json: JSON.stringify({ model: refOf(version) }) } as never
    return prepare([{ call, parsed: {}, beside }], [['inputs', 'model', 'name']], readCaller())
  }
  for (let version = 0; version < CONTENTS; version++) await prepareOne(version)
  await prepareOne(CONTENTS - 1)
  expect(asked).toHaveLength(CONTENTS)
  await prepareOne(0)
  expect(beside.readRef(refOf(0))).toMatchObject({ name: 'a' })
  expect(asked).toHaveLength(CONTENTS + 1)
})
