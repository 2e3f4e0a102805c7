import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toCopiedParts } from '../../src/domain/calls/copied-call.ts'
import { digestOfJson, digestOfRows } from '../../src/domain/objects/digests.ts'
import { toCall } from '../../src/project-files/record-values.ts'
import type { Stores } from '../../src/store/api/stores.ts'
import {
  contentsOf,
  describeEachPlace,
  exportTo,
  importFrom,
  PROJECT,
  withStores,
} from './project-folders.ts'

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })
/** Texts whose digits and spaces JavaScript would write in another way. */
const json = fc.oneof(
  fc.json({ maxDepth: 2 }),
  fc.constantFrom(
    '1.0',
    '{"a":  1.10,\n "b":12345678901234567890}',
    '-0',
    '"\u2028\\n"',
    '[1e400]',
  ),
)
const object = fc.oneof(
  fc.dictionary(text, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }).map((o) => JSON.stringify(o)),
  fc.constantFrom('{"n": 1.0,\r\n"big":12345678901234567890}', '{}'),
)
const time = fc.integer({ min: 1_700_000_000_000_000, max: 1_800_000_000_000_001 })
const id = fc.uuid({ version: 7 })

const call = fc.record({
  id,
  trace_id: id,
  parent_id: optional(id),
  thread_id: optional(text),
  turn_id: optional(id),
  op_name: text,
  display_name: optional(text),
  started_at: time,
  ended_at: optional(time),
  exception: fc.constant(null),
  svc_user_id: text,
  svc_username: text,
  end_user_id: optional(text),
  svc_run_id: optional(text),
  svc_run_step: optional(fc.nat()),
  svc_run_step_end: fc.constant(null),
  attributes: object,
  inputs: object,
  output: json,
  summary: fc.constantFrom('{}', '{"usage":{"m":{"prompt_tokens":10,"completion_tokens":1}}}'),
  otel_dump: optional(object),
})
const feedback = fc.record({
  id,
  weave_ref: fc.constantFrom('weave:///acme/demo/call/a', 'weave:///acme/demo/object/x:*'),
  feedback_type: text,
  creator: optional(text),
  annotation_ref: fc.constant(null),
  runnable_ref: optional(text),
  call_ref: optional(text),
  trigger_ref: optional(text),
  queue_id: fc.constant(null),
  svc_user_id: text,
  created_at_us: time,
  payload_json: object,
  scores_json: optional(fc.constant('{"wf_score":1.0}')),
})
const version = fc.record({
  object_id: fc.constantFrom('a', 'b'),
  val: json,
  created_at_us: time,
  tags: fc.uniqueArray(fc.constantFrom('x', 'y', 'ü'), { maxLength: 2 }),
  alias: optional(fc.constantFrom('best', 'prod')),
  isDeleted: fc.boolean(),
})
const project = fc.record({
  calls: fc.uniqueArray(call, { selector: (one) => one.id, maxLength: 6 }),
  feedback: fc.uniqueArray(feedback, { selector: (one) => one.id, maxLength: 4 }),
  versions: fc.array(version, { maxLength: 6 }),
  tables: fc.array(fc.array(json, { maxLength: 4 }), { maxLength: 3 }),
  files: fc.array(fc.uint8Array({ maxLength: 100_000 }), { maxLength: 3 }),
})
type Project = typeof project extends fc.Arbitrary<infer T> ? T : never

async function fill(stores: Stores, { calls, feedback, versions, tables, files }: Project) {
  await stores.calls.writeParts(
    calls.map((record) => toCopiedParts(toCall(record, PROJECT), 'weave')),
  )
  await stores.feedback.createFeedbackBatch(
    feedback.map((one) => ({ ...one, project_id: PROJECT })),
  )
  for (const { object_id, val, created_at_us, tags, alias, isDeleted } of versions) {
    const digest = digestOfJson(val)
    const named = { project_id: PROJECT, object_id }
    const classes = { kind: 'object', base_object_class: null, leaf_object_class: 'L' } as const
    const content = { digest, val_json: val, svc_user_id: 'u', created_at_us }
    await stores.objects.createObject({ ...named, ...classes, ...content })
    if (tags.length > 0) await stores.objects.addTags({ ...named, version: digest, names: tags })
    if (alias !== null)
      await stores.objects.setAliases({ ...named, version: digest, names: [alias] })
    if (isDeleted) await stores.objects.deleteObjects(PROJECT, object_id, [digest], 5)
  }
  for (const values of tables) {
    const rows = values.map((val_json) => ({ digest: digestOfJson(val_json), val_json }))
    await stores.tables.insertRows(PROJECT, rows)
    const digests = rows.map(({ digest }) => digest)
    await stores.tables.createTable(PROJECT, digestOfRows(digests), digests)
  }
  for (const bytes of files) {
    const received = await stores.files.receiveFile(chunksOf(bytes))
    await received.keep(PROJECT)
  }
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Buffer> {
  yield Buffer.from(bytes)
}

const isEmpty = (one: Project) =>
  [one.calls, one.feedback, one.versions, one.tables, one.files].every(({ length }) => length === 0)

describeEachPlace('an exported project', (open, place) => {
  it('is the same after an import into an empty Weft, in both formats, also twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        project.filter((one) => !isEmpty(one)),
        async (one) => {
          const from = await open()
          await withStores(from, (stores) => fill(stores, one))
          const first = await exportTo(from)
          expect(first.records.calls).toBe(one.calls.length)
          expect(first.records.feedback).toBe(one.feedback.length)
          const expected = contentsOf(first.folder)
          const imported = await importFrom(first.folder, await open())
          await importFrom(first.folder, imported)
          expect(contentsOf((await exportTo(imported)).folder)).toEqual(expected)
          const parquet = await exportTo(from, 'parquet')
          const inSqlite = await importFrom(parquet.folder)
          expect(contentsOf((await exportTo(inSqlite)).folder)).toEqual(expected)
        },
      ),
      // Shrinking a failure takes longer than the test may, which would hide it.
      { numRuns: place === 'sqlite' ? 5 : 2, endOnFailure: true },
    )
  })
})
