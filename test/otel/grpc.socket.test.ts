import { once } from 'node:events'
import { connect } from 'node:http2'
import { type AddressInfo, createServer } from 'node:net'
import { credentials, Metadata, makeGenericClientConstructor } from '@grpc/grpc-js'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Principal } from '../../src/domain/access/permissions.ts'
import { ApiError } from '../../src/errors.ts'
import { openGrpcServer } from '../../src/otel/grpc-server.ts'
import { runUntilExit, spawnServer, TEST_KEY } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { buildSpan, emptySpans, toProtobufRequest } from './otel-fixtures.ts'

const PATH = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'
const keep = (bytes: Buffer) => bytes
const Client = makeGenericClientConstructor(
  {
    Export: {
      path: PATH,
      requestStream: false,
      responseStream: false,
      requestSerialize: keep,
      requestDeserialize: keep,
      responseSerialize: keep,
      responseDeserialize: keep,
    },
  },
  'TraceService',
)

type Export = (
  bytes: Buffer,
  metadata: Metadata,
  done: (error: { code: number; details: string } | null, answer?: Buffer) => void,
) => void

/** Exports a span; the code of gRPC, 0 when it was taken. */
function exportSpan(
  address: string,
  headers: Record<string, string>,
  bytes: Buffer = Buffer.from(toProtobufRequest([buildSpan()])),
): Promise<number> {
  const client = new Client(address, credentials.createInsecure())
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  return new Promise((resolve) => {
    const send = client.Export as unknown as Export
    send.call(client, bytes, metadata, (error) => {
      client.close()
      resolve(error?.code ?? 0)
    })
  })
}

/** Begins a message of 9,000 bytes and sends one of them; returns the code of gRPC. */
async function beginSpan(address: string, headers: Record<string, string>): Promise<number> {
  const session = connect(`http://${address}`)
  onTestFinished(() => session.destroy())
  const sent = { ':method': 'POST', ':path': PATH, 'content-type': 'application/grpc', ...headers }
  const request = session.request(sent)
  request.write(Buffer.from([0, 0, 0, 0x23, 0x28, 1]))
  return new Promise((resolve) => {
    request.once('response', (head) => resolve(Number(head['grpc-status'])))
  })
}

describe('OTLP over gRPC', () => {
  it('stores spans as those over HTTP, and refuses in codes of gRPC', async () => {
    const server = await spawnServer({ WEFT_DATA_DIR: makeTempDir(), WEFT_OTLP_GRPC_PORT: '0' })
    const [, address = ''] = /gRPC listening at ([\d.:]+)/.exec(server.output().stdout) ?? []
    const authorization = `Bearer ${TEST_KEY}`
    expect(await exportSpan(address, {})).toBe(16)
    expect(await exportSpan(address, { authorization })).toBe(3)
    const headers = { authorization, project_id: 'acme/demo' }
    expect(await exportSpan(address, headers)).toBe(0)
    expect(await exportSpan(address, headers, emptySpans(100_001))).toBe(8)
    const answer = await fetch(`${server.url}/calls/query_stats`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`api:${TEST_KEY}`).toString('base64')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ project_id: 'acme/demo' }),
    })
    expect(await answer.json()).toMatchObject({ count: 1 })
    const metrics = await (
      await fetch(`${server.url}/metrics`, { headers: { authorization } })
    ).text()
    const count = String.raw`weft_http_request_duration_seconds_count\{route="${PATH}",method="POST"`
    expect(metrics).toMatch(new RegExp(`${count},status="2xx"\\} 1`))
    expect(metrics).toMatch(new RegExp(`${count},status="4xx"\\} 3`))
    expect(metrics).toContain('weft_refusals_total{code="missing_api_key"} 1')
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })

  it('distinguishes a fault from a refusal, and reveals nothing of a fault', async () => {
    const broken = new Error('broken')
    const faults: unknown[] = []
    const answers: unknown[] = []
    const server = await openGrpcServer({
      host: '127.0.0.1',
      port: 0,
      bodyBytesMax: 10_000,
      requestTimeoutMs: 10_000,
      identify: async (key) => {
        if (key === 'known') return {} as Principal
        throw new ApiError('invalid_api_key')
      },
      recordSpans: async () => {
        throw broken
      },
      recordLogs: async () => null,
      onFault: (error) => faults.push(error),
      onAnswer: ({ refusal }) => answers.push(refusal),
    })
    onTestFinished(() => server.close())
    const address = `127.0.0.1:${server.port}`
    expect(await exportSpan(address, { authorization: 'Bearer other' })).toBe(16)
    expect(faults).toEqual([])
    expect(await exportSpan(address, { authorization: 'Bearer known' })).toBe(13)
    expect(faults).toEqual([broken])
    expect(answers).toEqual(['invalid_api_key', 'internal_error'])
  })

  it('refuses a request without a key before its message arrives, and one that arrives too late', async () => {
    const answers: unknown[] = []
    const server = await openGrpcServer({
      host: '127.0.0.1',
      port: 0,
      bodyBytesMax: 10_000,
      requestTimeoutMs: 200,
      identify: async (key) => {
        if (key === 'known') return {} as Principal
        throw new ApiError('invalid_api_key')
      },
      recordSpans: async () => null,
      recordLogs: async () => null,
      onFault: () => undefined,
      onAnswer: ({ refusal }) => answers.push(refusal),
    })
    onTestFinished(() => server.close())
    const address = `127.0.0.1:${server.port}`
    expect(await beginSpan(address, {})).toBe(16)
    expect(await beginSpan(address, { authorization: 'Bearer other' })).toBe(16)
    expect(await beginSpan(address, { authorization: 'Bearer known' })).toBe(4)
    expect(await exportSpan(address, { authorization: 'Bearer known' })).toBe(0)
    expect(answers).toEqual(['missing_api_key', 'invalid_api_key', 'request_timeout', null])
  })

  it('a port that is taken ends the start with one line', async () => {
    const blocker = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void blocker.close())
    await once(blocker, 'listening')
    const { port } = blocker.address() as AddressInfo
    const ended = await runUntilExit({
      WEFT_DATA_DIR: makeTempDir(),
      WEFT_BOOTSTRAP_KEY: TEST_KEY,
      WEFT_OTLP_GRPC_PORT: String(port),
    })
    expect(ended.code).toBe(1)
    expect(ended.stderr).toBe(
      `weft: the port ${port} cannot be bound for gRPC (set WEFT_OTLP_GRPC_PORT)\n`,
    )
  })
})
