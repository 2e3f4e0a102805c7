import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { describe, expect, it } from 'vitest'
import { openOtlpFiles } from '../../src/imports/otlp.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { importInto, importTwice, optionsOf, recordsOf } from './importing.ts'

/** A request with one span in OTLP's JSON. */
function requestOf(span_id: string, more: object = {}) {
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
  const number = (key: string, intValue: string) => ({ key, value: { intValue } })
  const span = {
    traceId: '5b8efff798038103d269b633813fc60c',
    spanId: span_id,
    name: 'chat gpt-5.4',
    startTimeUnixNano: '1780000000123456789',
    endTimeUnixNano: '1780000001123456789',
    attributes: [
      text('gen_ai.operation.name', 'chat'),
      text('gen_ai.request.model', 'gpt-5.4'),
      number('gen_ai.usage.input_tokens', '100'),
      number('gen_ai.usage.output_tokens', '20'),
      text('gen_ai.evaluation.name', 'correctness'),
    ],
    ...more,
  }
  return { resourceSpans: [{ resource: {}, scopeSpans: [{ scope: {}, spans: [span] }] }] }
}

const IDS = ['eee19b7ec3c1b171', 'eee19b7ec3c1b172', 'eee19b7ec3c1b173'] as const
const LINES = IDS.map((id) => `${JSON.stringify(requestOf(id))}\n`).join('')

function prefixed(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

function fileOf(content: string | Uint8Array): string {
  const path = join(makeTempDir(), 'traces.json')
  writeFileSync(path, content)
  return path
}

describe('weft import --from otlp', () => {
  it('reads lines of JSON with times, usage and evaluations, and changes nothing the second time', async () => {
    const options = optionsOf(fileOf(LINES))
    const { report, records } = await importTwice(openOtlpFiles, options)
    expect(report).toMatchObject({ counts: { calls: 3, feedback: 3 }, left: {} })
    expect(records.calls[0]).toMatchObject({
      id: IDS[0],
      trace_id: '5b8efff798038103d269b633813fc60c',
      started_at: '2026-05-28T20:26:40.123456Z',
      ended_at: '2026-05-28T20:26:41.123456Z',
      summary: { usage: { 'gpt-5.4': { prompt_tokens: 100, completion_tokens: 20 } } },
    })
    expect(records.feedback[0]).toMatchObject({
      feedback_type: 'otel.evaluation.correctness',
      created_at: '2026-05-28T20:26:40.123456Z',
    })
  })

  it('reads protobuf behind lengths, as the serializer of the SDK writes it', async () => {
    const exporter = new InMemorySpanExporter()
    const provider = new BasicTracerProvider({
      spanProcessors: [new SimpleSpanProcessor(exporter)],
    })
    for (const name of ['one', 'two']) provider.getTracer('test').startSpan(name).end()
    const messages = exporter
      .getFinishedSpans()
      .map((span) => prefixed(ProtobufTraceSerializer.serializeRequest([span]) as Uint8Array))
    const dataDir = makeTempDir()
    await importInto(dataDir, openOtlpFiles(optionsOf(fileOf(Buffer.concat(messages)))))
    const { calls } = await recordsOf(dataDir)
    expect(calls.map(({ op_name }) => op_name).sort()).toEqual(['one', 'two'])
  })

  it('reads messages that zstd compresses, each by itself', async () => {
    const messages = IDS.map((id) => prefixed(zstdCompressSync(JSON.stringify(requestOf(id)))))
    const dataDir = makeTempDir()
    const source = openOtlpFiles(optionsOf(fileOf(Buffer.concat(messages))))
    expect(await importInto(dataDir, source)).toMatchObject({ counts: { calls: 3 } })
  })

  it('reads all files of a folder by their names', async () => {
    const folder = makeTempDir()
    IDS.forEach((id, at) => {
      writeFileSync(join(folder, `traces-${at}.json`), `${JSON.stringify(requestOf(id))}\n`)
    })
    mkdirSync(join(folder, 'more'))
    const report = await importInto(makeTempDir(), openOtlpFiles(optionsOf(folder)))
    expect(report).toMatchObject({ counts: { calls: 3 } })
  })

  it('goes on behind the last message that was stored, after a message that cannot be read', async () => {
    const path = fileOf(LINES)
    appendFileSync(path, '{"resourceSpans": [\n')
    const dataDir = makeTempDir()
    await expect(importInto(dataDir, openOtlpFiles(optionsOf(path)))).rejects.toThrow(
      /traces\.json, message 4: the body is not valid JSON/i,
    )
    writeFileSync(path, `${LINES}${JSON.stringify(requestOf('eee19b7ec3c1b174'))}\n`)
    // What lies before the position is not read again.
    writeFileSync(path, `{${' '.repeat(LINES.length - 1)}`, { flag: 'r+' })
    const report = await importInto(dataDir, openOtlpFiles(optionsOf(path)))
    expect(report).toMatchObject({ counts: { calls: 4 } })
  })

  it('goes on in a file that a rotation has renamed, and reads the file that follows from its start', async () => {
    const folder = makeTempDir()
    const [path, dataDir] = [join(folder, 'traces.json'), makeTempDir()]
    writeFileSync(path, LINES)
    const source = () => openOtlpFiles(optionsOf(folder))
    await expect(importInto(dataDir, source(), 1)).rejects.toThrow('killed')
    renameSync(path, join(folder, 'traces-2026-05-28T20-26-44.000.json'))
    const next = requestOf('eee19b7ec3c1b174', { attributes: [] })
    writeFileSync(path, `${JSON.stringify(next)}\n`)
    expect(await importInto(dataDir, source())).toMatchObject({ counts: { calls: 4 } })
    expect((await recordsOf(dataDir)).calls).toHaveLength(4)
  })

  it('reads all files again when the one of its position is gone', async () => {
    const folder = makeTempDir()
    const dataDir = makeTempDir()
    writeFileSync(join(folder, 'a.json'), LINES)
    const source = () => openOtlpFiles(optionsOf(folder))
    await expect(importInto(dataDir, source(), 2)).rejects.toThrow('killed')
    // Begun before the other is deleted, so that it has another inode.
    writeFileSync(join(folder, 'b.json'), `${JSON.stringify(requestOf('eee19b7ec3c1b174'))}\n`)
    rmSync(join(folder, 'a.json'))
    await importInto(dataDir, source())
    expect((await recordsOf(dataDir)).calls.map(({ id }) => id)).toContain('eee19b7ec3c1b174')
  })

  it('stores the run of trials once, as over OTLP', async () => {
    const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
    const lines = IDS.map((id, at) =>
      JSON.stringify(
        requestOf(id, {
          name: 'experiment-item-run',
          startTimeUnixNano: `178000000${at}000000000`,
          endTimeUnixNano: `178000000${at}500000000`,
          attributes: [
            text('langfuse.experiment.id', 'run-1'),
            text('langfuse.experiment.item.id', `item-${at}`),
          ],
        }),
      ),
    )
    const options = optionsOf(fileOf(lines.join('\n')))
    const { report, records } = await importTwice(openOtlpFiles, options)
    expect(report).toMatchObject({ counts: { calls: 3 }, left: {} })
    expect(records.calls).toHaveLength(4)
    expect(new Set(records.calls.map(({ parent_id }) => parent_id))).toEqual(
      new Set([undefined, 'run-1']),
    )
  })

  it('counts spans that cannot be stored and messages of other signals', async () => {
    const bad = JSON.stringify(requestOf(IDS[0], { traceId: 'abc' }))
    const path = fileOf(`${bad}\n{"resourceMetrics":[{}]}\n${LINES}`)
    const { left, counts } = await importInto(makeTempDir(), openOtlpFiles(optionsOf(path)))
    expect(counts.calls).toBe(3)
    expect(left).toEqual({
      'spans: trace_id is not 16 bytes': 1,
      'messages without spans: "resourceMetrics" is not read; spans are in resourceSpans[].scopeSpans[].spans': 1,
    })
  })

  it.each([
    [
      'a line that is too long',
      `{${' '.repeat(1024 * 1024 + 1)}`,
      /no message of at most 1048576 bytes/,
    ],
    ['a length beyond the end', prefixed(Buffer.alloc(9)).subarray(0, 8), /no message of at most/],
    [
      'a message that zstd cannot decompress',
      prefixed(zstdCompressSync(LINES).subarray(0, 40)),
      /traces\.json, message 1: cannot be decompressed to at most 1048576 bytes/,
    ],
    ['another format', 'traceId,spanId\n1,2\n', /no message of at most/],
  ])('refuses %s', async (_what, content, message) => {
    const source = openOtlpFiles(optionsOf(fileOf(content)))
    await expect(importInto(makeTempDir(), source)).rejects.toThrow(message)
  })

  it('keeps a call that is stored with other content, and counts it', async () => {
    const dataDir = makeTempDir()
    const path = fileOf(LINES)
    await importInto(dataDir, openOtlpFiles(optionsOf(path)))
    writeFileSync(path, LINES.replaceAll('"gpt-5.4"', '"gpt-5.5"'))
    const { left } = await importInto(dataDir, openOtlpFiles(optionsOf(path)))
    expect(left).toEqual({ 'calls that are stored with other content': 3 })
  })
})
