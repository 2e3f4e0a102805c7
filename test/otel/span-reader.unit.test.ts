import { expect, it, onTestFinished } from 'vitest'
import { unpackCalls } from '../../src/domain/calls/packed-calls.ts'
import type { Span } from '../../src/domain/otel/span.ts'
import { createTraceReader, optionsOfTraceReader } from '../../src/otel/span-reader.ts'
import { buildSpan, spanId, toProtobufRequest } from './otel-fixtures.ts'

it('reads the large trace requests that wait behind one that is too large for the memory', async () => {
  const entry = new URL('./support/dying-span-reader-entry.ts', import.meta.url)
  const reader = createTraceReader({ heapMibMax: 16, entry })
  onTestFinished(() => reader.close())
  const read = async (project_id: string) => {
    const spans = await reader.read({
      encoding: 'json',
      bytes: new Uint8Array(1024 * 1024),
      project_id,
      default_project_id: null,
      refScheme: 'weave',
      svc_user_id: 'u',
      svc_username: 'U',
    })
    spans.close()
    return spans
  }
  const [huge, ...others] = await Promise.allSettled(['huge', 'a', 'b'].map(read))
  expect(huge).toMatchObject({ status: 'rejected', reason: { code: 'request_too_large' } })
  expect(others).toMatchObject([{ value: { projects: ['a'] } }, { value: { projects: ['b'] } }])
})

it('gives the calls of a large request in batches, and reads the next request when one is left', async () => {
  const reader = createTraceReader(optionsOfTraceReader(0))
  onTestFinished(() => reader.close())
  const open = (spans: readonly Span[]) =>
    reader.read({
      encoding: 'protobuf',
      bytes: toProtobufRequest(spans),
      project_id: 'a/b',
      default_project_id: null,
      refScheme: 'weave',
      svc_user_id: 'u',
      svc_username: 'U',
    })
  const small = Array.from({ length: 2500 }, (_, index) =>
    buildSpan({ span_id: spanId(index + 1), attributes: { text: 'x'.repeat(100) } }),
  )
  const long = Array.from({ length: 5 }, (_, index) =>
    buildSpan({ span_id: spanId(index + 1), attributes: { text: 'x'.repeat(1_500_000) } }),
  )
  const left = await open(small)
  left.close()
  for (const [spans, sizes] of [
    [small, [1000, 1000, 500]],
    [long, [1, 1, 1, 1, 1]],
  ] as const) {
    const opened = await open(spans)
    const batches = await Array.fromAsync(opened.batches(), unpackCalls)
    opened.close()
    expect(batches.map((batch) => batch.length)).toEqual(sizes)
    const ids = batches.flat().map(({ start }) => start?.id)
    expect(ids).toEqual(spans.map(({ span_id }) => span_id))
  }
})

it('refuses objects that would take all memory of the process along when they are parsed', async () => {
  const { entry } = optionsOfTraceReader(0)
  const reader = createTraceReader({ heapMibMax: 64, entry })
  onTestFinished(() => reader.close())
  const text = `{"resourceSpans":[],"rest":[${'{},'.repeat(2_000_000)}-0]}`
  const request = { encoding: 'json', bytes: Buffer.from(text), project_id: 'a/b' } as const
  const names = {
    default_project_id: null,
    refScheme: 'weave',
    svc_user_id: 'u',
    svc_username: 'U',
  }
  await expect(reader.read({ ...request, ...names })).rejects.toMatchObject({
    code: 'request_too_large',
  })
})
