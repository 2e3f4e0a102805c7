import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Span } from '../../src/domain/otel/span.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { buildSpan, spanId, toJsonRequest } from './otel-fixtures.ts'

/** A tree of spans: each hangs below an earlier one; some share their microsecond. */
const SPANS: readonly Span[] = Array.from({ length: 12 }, (_, index) =>
  buildSpan({
    span_id: spanId(index + 1),
    parent_span_id: index === 0 ? null : spanId((index >> 1) + 1),
    name: `step ${index}`,
    start_ns: 1_700_000_000_000_000_000n + BigInt(index % 3) * 100n,
    attributes: { 'gen_ai.usage.input_tokens': index, 'gen_ai.request.model': 'm' },
  }),
)

/** The span as a library exports it while it runs. */
const toRunning = (span: Span): Span => ({ ...span, end_ns: 0n, attributes: { 'my.part': 1 } })

it('the same spans give the same calls in any order, batches and repetition, even if some ran when they were sent first', async () => {
  const test = await buildTestApp()
  const send = async (project_id: string, spans: readonly Span[]) => {
    const answer = await test.post('/v1/traces', toJsonRequest(spans), { headers: { project_id } })
    expect(answer).toMatchObject({ status: 200, body: {} })
  }
  const read = async (project_id: string) => {
    const { text } = await test.post('/calls/stream_query', { project_id })
    const exported = await test.get(
      `/otel/v1/traces/${SPANS[0]?.trace_id}?project_id=${encodeURIComponent(project_id)}`,
    )
    return { calls: text.replaceAll(project_id, 'PROJECT'), exported: exported.body }
  }
  await send('acme/expected', SPANS)
  const expected = await read('acme/expected')
  expect(expected.calls.trim().split('\n')).toHaveLength(SPANS.length)
  const indexes = fc.integer({ min: 0, max: SPANS.length - 1 })
  const batch = fc.record({
    list: fc.array(indexes, { minLength: 1, maxLength: 6 }),
    isRunning: fc.boolean(),
  })
  const batches = fc.array(batch, { maxLength: 6 })
  const order = fc.shuffledSubarray([...SPANS.keys()], { minLength: SPANS.length })
  let project = 0
  await fc.assert(
    fc.asyncProperty(batches, order, batches, async (first, rest, late) => {
      project += 1
      const project_id = `acme/p${project}`
      // Some batches are sent again with all the others, as after a lost answer.
      for (const { list, isRunning } of [...first, { list: rest, isRunning: false }, ...late]) {
        const spans = list.map((index) => SPANS[index] as Span)
        await send(project_id, isRunning ? spans.map(toRunning) : spans)
      }
      expect(await read(project_id)).toEqual(expected)
    }),
    { numRuns: 25 },
  )
})
