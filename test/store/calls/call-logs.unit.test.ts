import { expect, it, onTestFinished } from 'vitest'
import type { SpanLog } from '../../../src/domain/calls/call-logs.ts'
import type { CallStart } from '../../../src/domain/calls/new-call.ts'
import { toSpanCall } from '../../../src/domain/otel/span-call.ts'
import { createCallLogs } from '../../../src/store/sqlite/calls/call-logs.ts'
import { openDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { migrate } from '../../../src/store/sqlite/db/migrate.ts'
import { buildSpan, spanId, TRACE } from '../../otel/otel-fixtures.ts'

const US_PER_S = 1_000_000

/** @param spansMax - limit: spans with records */
function openLogs(spansMax: number) {
  const db = openDatabase(':memory:')
  onTestFinished(() => void db.close())
  migrate(db)
  return createCallLogs(db, { findCall: () => undefined, writeRefs: () => undefined, spansMax })
}

function logOf(span: number, content = 'hi'): SpanLog {
  const event = { name: 'gen_ai.user.message', time_unix_nano: '1', attributes: { content } }
  return {
    project_id: 'a/b',
    trace_id: TRACE,
    span_id: spanId(span),
    event_json: JSON.stringify(event),
  }
}

function writeAt(seconds: number, ...logs: readonly SpanLog[]) {
  return { logs, received_at_us: seconds * US_PER_S, ref_scheme: 'weave' }
}

/** The messages that join a span. */
function join(logs: ReturnType<typeof openLogs>, span: number): unknown {
  const { start } = toSpanCall(buildSpan({ span_id: spanId(span) }), 'a/b')
  const texts = { otel_dump_json: JSON.stringify(start.otel_dump), inputs_json: '{}' }
  const sent = { ...start, ...texts, start_size_bytes: 0 } as unknown as CallStart
  return JSON.parse(logs.joinTo({ start: sent, end: null }).start?.inputs_json ?? '{}').messages
}

it('refuses records when too many spans have some, unless joined ones make room', () => {
  const logs = openLogs(2)
  expect(logs.write(writeAt(0, logOf(1)))).toBe(0)
  expect(logs.write(writeAt(0, logOf(2)))).toBe(0)
  expect(logs.write(writeAt(0, logOf(3), logOf(4)))).toBe(2)
  expect(join(logs, 1)).toEqual([{ role: 'user', content: 'hi' }])
  expect(logs.write(writeAt(0, logOf(3)))).toBe(0)
  expect(join(logs, 2)).toHaveLength(1)
})

it('keeps records for an hour, and joined ones for five minutes', () => {
  const logs = openLogs(10)
  logs.write(writeAt(0, logOf(1), logOf(2)))
  expect(join(logs, 2)).toHaveLength(1)
  logs.write(writeAt(301, logOf(3)))
  expect(join(logs, 2)).toBeUndefined()
  expect(join(logs, 1)).toHaveLength(1)
  const waiting = openLogs(10)
  waiting.write(writeAt(0, logOf(1)))
  waiting.write(writeAt(3601, logOf(3)))
  expect(join(waiting, 1)).toBeUndefined()
})

it('takes at most 1,000 records of one span', () => {
  const logs = openLogs(10)
  const many = Array.from({ length: 1000 }, (_, index) => logOf(1, String(index)))
  expect(logs.write(writeAt(0, ...many))).toBe(0)
  expect(logs.write(writeAt(0, logOf(1, 'more'), logOf(1, '7')))).toBe(2)
  expect(join(logs, 1)).toHaveLength(1000)
})
