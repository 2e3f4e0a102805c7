/** What every FeedbackStore must do, whatever it stores in. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type FeedbackSample,
  resolveFeedbackSample,
} from '../../../src/domain/feedback/feedback-sample.ts'
import { FEEDBACK_FIELDS } from '../../../src/domain/feedback/feedback-view.ts'
import { resolveRowQuery } from '../../../src/domain/query/row-query.ts'
import type { FeedbackStore } from '../../../src/store/api/feedback/feedback.ts'
import { readCaller } from '../../support/read-caller.ts'
import { feedbackAt, trigger } from '../feedback-fixtures.ts'

/** A caller that has disconnected. */
const GONE = readCaller({ signal: AbortSignal.abort() })

const T0 = '2026-01-01T00:00:00Z'
const T1 = '2026-01-01T00:00:01Z'

/** A sample over all times of the project. */
export function sampleOf(fields: Partial<FeedbackSample> = {}): FeedbackSample {
  const window = { start: '1990-01-01T00:00:00Z', end: '2200-01-01T00:00:00Z' }
  return { ...resolveFeedbackSample({ project_id: 'acme/demo', ...window }, 0), ...fields }
}

export async function pathsOf(
  feedback: FeedbackStore,
  fields: Partial<FeedbackSample> = {},
): Promise<string[]> {
  const { paths } = await feedback.findPayloadPaths(sampleOf(fields), readCaller())
  return paths.map(({ json_path }) => json_path)
}

/** Ids of the feedback that a query finds. */
async function idsOf(feedback: FeedbackStore, request: object = {}): Promise<string[]> {
  const query = resolveRowQuery({ fields: ['id'], ...request }, FEEDBACK_FIELDS)
  const { rows } = await feedback.queryFeedback('acme/demo', query, readCaller())
  return rows.map((text) => JSON.parse(text).id)
}

/** @param create - an empty store that closes itself when the test ends */
export function describeFeedbackStoreContract(
  name: string,
  create: () => Promise<FeedbackStore>,
): void {
  describe(`${name} keeps the FeedbackStore contract`, () => {
    it('gives back what it stored, and the first one on a repeat', async () => {
      const store = await create()
      const first = feedbackAt(T0, 'f', { creator: 'Ada', trigger_ref: trigger('t') })
      await expect(store.createFeedback(first)).resolves.toEqual(first)
      const repeat = { ...first, created_at_us: 1, svc_user_id: 'u-2' }
      await expect(store.createFeedback(repeat)).resolves.toEqual(first)
    })

    it('refuses a taken id with other content and changes nothing', async () => {
      const store = await create()
      const first = feedbackAt(T0, 'f')
      await store.createFeedback(first)
      const other = { ...first, payload_json: '{"other":1}' }
      await expect(store.createFeedback(other)).rejects.toMatchObject({ code: 'feedback_conflict' })
      expect(await pathsOf(store)).toEqual(['f'])
    })

    it('stores a batch item by item, those that conflict aside', async () => {
      const store = await create()
      const taken = feedbackAt(T0, 'taken')
      await store.createFeedback(taken)
      const good = feedbackAt(T1, 'good')
      const other = { ...taken, payload_json: '{}' }
      const results = await store.createFeedbackBatch([other, good, good, taken])
      expect(results).toEqual([
        expect.objectContaining({ code: 'feedback_conflict' }),
        good,
        good,
        taken,
      ])
      expect(await idsOf(store)).toEqual(['taken', 'good'])
    })

    it('replaces feedback, or changes nothing', async () => {
      const store = await create()
      const old = feedbackAt(T0, 'old')
      const taken = feedbackAt(T0, 'taken')
      await store.createFeedbackBatch([old, taken])
      const other = { ...taken, payload_json: '{}' }
      const conflict = store.replaceFeedback('old', other)
      await expect(conflict).rejects.toMatchObject({ code: 'feedback_conflict' })
      expect(await idsOf(store)).toEqual(['old', 'taken'])
      const fresh = feedbackAt(T1, 'fresh')
      await expect(store.replaceFeedback('old', fresh)).resolves.toEqual(fresh)
      await expect(store.replaceFeedback('old', fresh)).resolves.toEqual(fresh)
      expect(await idsOf(store)).toEqual(['taken', 'fresh'])
      const missing = store.replaceFeedback('old', feedbackAt(T1, 'more'))
      await expect(missing).rejects.toMatchObject({ code: 'feedback_not_found' })
    })

    it('removes what is named and nothing of another project', async () => {
      const store = await create()
      await store.createFeedbackBatch(['a', 'b', 'c'].map((id) => feedbackAt(T0, id)))
      await store.purgeFeedback('acme/other', ['b'])
      await store.purgeFeedback('acme/demo', ['a', 'unknown', 'a'])
      expect(await idsOf(store)).toEqual(['b', 'c'])
      expect(await pathsOf(store)).toEqual(['c'])
    })

    it('removes feedback of a type about some things, and no other', async () => {
      const store = await create()
      const [one, two] = ['one', 'two'].map((id) => `weave:///acme/demo/object/${id}:v1`)
      await store.createFeedbackBatch([
        feedbackAt(T0, 'a', { weave_ref: one, feedback_type: 'tag' }),
        feedbackAt(T0, 'b', { weave_ref: one, feedback_type: 'tag' }),
        feedbackAt(T0, 'c', { weave_ref: one, feedback_type: 'tags' }),
        feedbackAt(T0, 'd', { weave_ref: two, feedback_type: 'tag' }),
        feedbackAt(T0, 'e', { weave_ref: `${one}1`, feedback_type: 'tag' }),
      ])
      await store.purgeAbout('acme/other', 'tag', [one as string])
      await store.purgeAbout('acme/demo', 'tag', [one as string, 'unknown'])
      expect(await idsOf(store)).toEqual(['c', 'd', 'e'])
    })

    it('finds in order of time, of equal times by id', async () => {
      const store = await create()
      await store.createFeedbackBatch([
        feedbackAt(T1, 'a'),
        feedbackAt(T0, 'c'),
        feedbackAt(T0, 'b'),
      ])
      expect(await idsOf(store)).toEqual(['b', 'c', 'a'])
      expect(await idsOf(store, { offset: 1, limit: 1 })).toEqual(['c'])
    })

    it('lists what is about things, the newest of each, the oldest first', async () => {
      const store = await create()
      const refOf = (id: string) => `weave:///acme/demo/call/${id}`
      const about = (id: string, time: string, name: string) => ({
        ...feedbackAt(time, name, { payload: { n: 1 } }),
        weave_ref: refOf(id),
      })
      const many = Array.from({ length: 1001 }, (_, n) => about('many', T0, `m${1000 + n}`))
      const others = [about('a', T1, 'a2'), about('a', T0, 'a1'), about('b', T0, 'b1')]
      await store.createFeedbackBatch([...others, ...many])
      const names = ['b', 'unknown', 'a', 'many', ...Array.from({ length: 300 }, () => 'b')]
      const found = await store.listAbout(names.map(refOf), readCaller())
      expect(found).toHaveLength(names.length)
      const ids = found.map((rows) => rows.map(({ id }) => id))
      expect(ids.slice(0, 3)).toEqual([['b1'], [], ['a1', 'a2']])
      expect(found[0]?.[0]?.payload_json).toBe('{"n":1}')
      expect(ids[3]).toEqual(many.slice(1).map(({ id }) => id))
      expect(ids.slice(4).every(([id]) => id === 'b1')).toBe(true)
      const elsewhere = readCaller({ project_id: 'acme/other' })
      expect(await store.listAbout([refOf('b')], elsewhere)).toEqual([[]])
      const gone = store.listAbout(names.map(refOf), GONE)
      await expect(gone).rejects.toBeDefined()
    })

    it('fails a query that nobody waits for', async () => {
      const store = await create()
      const query = resolveRowQuery({}, FEEDBACK_FIELDS)
      const search = store.queryFeedback('acme/demo', query, GONE)
      await expect(search).rejects.toMatchObject({ code: 'client_closed_request' })
    })

    it('knows ids by their project', async () => {
      const store = await create()
      await store.createFeedback(feedbackAt(T0, 'f'))
      const other = feedbackAt(T0, 'f', { project_id: 'acme/other', payload: { other: 1 } })
      await expect(store.createFeedback(other)).resolves.toEqual(other)
      expect(await pathsOf(store, { project_id: 'acme/other' })).toEqual(['other'])
    })

    it('looks into the newest of each trigger, whatever the order of arrival', async () => {
      const store = await create()
      await store.createFeedback(feedbackAt(T1, 'a_new', { trigger_ref: trigger('a') }))
      await store.createFeedback(feedbackAt(T0, 'a_old', { trigger_ref: trigger('a') }))
      await store.createFeedback(feedbackAt(T0, 'none_old'))
      await store.createFeedback(feedbackAt(T1, 'none_new'))
      expect(await pathsOf(store)).toEqual(['a_new', 'none_new'])
    })

    it('takes the greater id of equal times', async () => {
      const store = await create()
      for (const id of ['b', 'c', 'a']) await store.createFeedback(feedbackAt(T0, id))
      expect(await pathsOf(store)).toEqual(['c'])
    })

    it('takes the newest that the filters leave', async () => {
      const store = await create()
      await store.createFeedback(feedbackAt(T0, 'old', { feedback_type: 'x' }))
      await store.createFeedback(feedbackAt(T1, 'new', { feedback_type: 'y' }))
      expect(await pathsOf(store, { feedback_type: 'x' })).toEqual(['old'])
      expect(await pathsOf(store, { trigger_ref: trigger('a') })).toEqual([])
    })

    it('matches prefixes of other scripts and of the characters of patterns', async () => {
      const store = await create()
      for (const [id, object] of Object.entries({ a: 'größe😀', b: 'größe', c: '_', d: 'x' })) {
        const trigger_ref = trigger(object)
        await store.createFeedback(feedbackAt(T0, id, { trigger_ref }))
      }
      const find = (object: string) => pathsOf(store, { trigger_prefix: trigger(object, '') })
      expect(await find('größe😀')).toEqual(['a'])
      expect(await find('größe')).toEqual(['b'])
      expect(await find('_')).toEqual(['c'])
    })

    it('samples like a plain reading of the rule, for any records', async () => {
      const record = fc.record({
        second: fc.integer({ min: 0, max: 5 }),
        group: fc.constantFrom('a', 'b', 'c', null),
        type: fc.constantFrom('x', 'y'),
      })
      const records = fc.array(record, { maxLength: 12 })
      const query = fc.record({
        type: fc.constantFrom('x', null),
        limit: fc.integer({ min: 1, max: 4 }),
        start: fc.integer({ min: 0, max: 5 }),
        end: fc.integer({ min: 3, max: 6 }),
      })
      // A project of its own for each run, as a store takes longer to open than to ask.
      const store = await create()
      let runs = 0
      await fc.assert(
        fc.asyncProperty(records, query, async (rows, { type, limit, start, end }) => {
          const project_id = `acme/run-${runs++}`
          const stored = rows.map((row, at) =>
            feedbackAt(`2026-01-01T00:00:0${row.second}Z`, `f${at}`, {
              project_id,
              feedback_type: row.type,
              trigger_ref: row.group && trigger(row.group),
            }),
          )
          await Promise.all(stored.map((feedback) => store.createFeedback(feedback)))
          const second = (count: number) => Date.UTC(2026, 0, 1, 0, 0, count) * 1000
          const newestFirst = stored
            .filter(({ feedback_type }) => type === null || feedback_type === type)
            .filter(({ created_at_us: us }) => us >= second(start) && us < second(end))
            .sort((a, b) => b.created_at_us - a.created_at_us || (a.id < b.id ? 1 : -1))
          const firsts = newestFirst.filter(
            (one, at) => newestFirst.findIndex((x) => x.trigger_ref === one.trigger_ref) === at,
          )
          const found = await pathsOf(store, {
            project_id,
            feedback_type: type,
            sample_limit: limit,
            start_us: second(start),
            end_us: second(end),
          })
          const ids = firsts.slice(0, limit).map(({ id }) => id)
          expect(found).toEqual(ids.sort())
        }),
        { numRuns: 25 },
      )
    })

    it('fails a search that nobody waits for', async () => {
      const store = await create()
      const search = store.findPayloadPaths(sampleOf(), GONE)
      await expect(search).rejects.toMatchObject({ code: 'client_closed_request' })
    })
  })
}
