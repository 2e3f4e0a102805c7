import { credentials, Metadata, makeGenericClientConstructor } from '@grpc/grpc-js'
import { describe, expect, it } from 'vitest'
import { runUntilExit, spawnServer, TEST_KEY } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { buildSpan, toProtobufRequest } from './otel-fixtures.ts'

const keep = (bytes: Buffer) => bytes
const Client = makeGenericClientConstructor(
  {
    Export: {
      path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
      ...{ requestStream: false, responseStream: false },
      ...{ requestSerialize: keep, requestDeserialize: keep },
      ...{ responseSerialize: keep, responseDeserialize: keep },
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
function exportSpan(address: string, headers: Record<string, string>): Promise<number> {
  const client = new Client(address, credentials.createInsecure())
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  return new Promise((resolve) => {
    const send = client.Export as unknown as Export
    send.call(client, Buffer.from(toProtobufRequest([buildSpan()])), metadata, (error) => {
      client.close()
      resolve(error?.code ?? 0)
    })
  })
}

describe('OTLP over gRPC', () => {
  it('stores spans as those over HTTP, and refuses in codes of gRPC', async () => {
    const server = await spawnServer({ WEFT_DATA_DIR: makeTempDir(), WEFT_OTLP_GRPC_PORT: '0' })
    const [, address = ''] = /gRPC listening at ([\d.:]+)/.exec(server.output().stdout) ?? []
    const authorization = `Bearer ${TEST_KEY}`
    expect(await exportSpan(address, {})).toBe(16)
    expect(await exportSpan(address, { authorization })).toBe(3)
    expect(await exportSpan(address, { authorization, project_id: 'acme/demo' })).toBe(0)
    const answer = await fetch(`${server.url}/calls/query_stats`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`api:${TEST_KEY}`).toString('base64')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ project_id: 'acme/demo' }),
    })
    expect(await answer.json()).toMatchObject({ count: 1 })
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })

  it('a port that is taken ends the start with one line', async () => {
    const server = await spawnServer({ WEFT_DATA_DIR: makeTempDir() })
    const { port } = new URL(server.url)
    const ended = await runUntilExit({
      ...{ WEFT_DATA_DIR: makeTempDir(), WEFT_BOOTSTRAP_KEY: TEST_KEY },
      WEFT_OTLP_GRPC_PORT: port,
    })
    expect(ended.code).toBe(1)
    expect(ended.stderr).toBe(
      `weft: the port ${port} cannot be bound for gRPC (set WEFT_OTLP_GRPC_PORT)\n`,
    )
  })
})
