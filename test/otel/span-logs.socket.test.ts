import { credentials, Metadata, makeGenericClientConstructor } from '@grpc/grpc-js'
import { expect, it } from 'vitest'
import { basic } from '../support/build-test-app.ts'
import { type SpawnedServer, spawnServer, TEST_KEY } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { buildSpan, frame, spanId, TRACE, toJsonRequest } from './otel-fixtures.ts'

const PATH = '/opentelemetry.proto.collector.logs.v1.LogsService/Export'
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
  'LogsService',
)

/** A request of one record in protobuf: its body is a text, and its ids are bytes. */
const LOGS = frame(
  0x0a,
  frame(
    0x12,
    frame(
      0x12,
      Buffer.concat([
        frame(0x2a, frame(0x0a, Buffer.from('Plain?'))),
        frame(0x4a, Buffer.from(TRACE, 'hex')),
        frame(0x52, Buffer.from(spanId(1), 'hex')),
        frame(0x62, Buffer.from('gen_ai.user.message')),
      ]),
    ),
  ),
)

type Export = (
  bytes: Buffer,
  metadata: Metadata,
  done: (error: { code: number } | null) => void,
) => void

/** The code of gRPC, 0 when the records were taken. */
function exportLogs(address: string, authorization: string): Promise<number> {
  const client = new Client(address, credentials.createInsecure())
  const metadata = new Metadata()
  metadata.set('authorization', authorization)
  metadata.set('project_id', 'acme/demo')
  return new Promise((resolve) => {
    const send = client.Export as unknown as Export
    send.call(client, LOGS, metadata, (error) => {
      client.close()
      resolve(error?.code ?? 0)
    })
  })
}

async function post({ url }: SpawnedServer, path: string, body: unknown): Promise<string> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: basic(TEST_KEY),
      'content-type': 'application/json',
      project_id: 'acme/demo',
    },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(200)
  return response.text()
}

it('records that were acknowledged over gRPC wait for their span through a kill of the server', async () => {
  const settings = { WEFT_DATA_DIR: makeTempDir(), WEFT_OTLP_GRPC_PORT: '0' }
  const killed = await spawnServer(settings)
  const [, address = ''] = /gRPC listening at ([\d.:]+)/.exec(killed.output().stdout) ?? []
  expect(await exportLogs(address, 'Bearer wk_other')).toBe(16)
  expect(await exportLogs(address, `Bearer ${TEST_KEY}`)).toBe(0)
  await killed.stop('SIGKILL')
  const server = await spawnServer(settings)
  await post(server, '/v1/traces', toJsonRequest([buildSpan()]))
  const call = JSON.parse(await post(server, '/calls/stream_query', { project_id: 'acme/demo' }))
  expect(call.inputs.messages).toEqual([{ role: 'user', content: 'Plain?' }])
  expect(await server.stop()).toEqual({ code: 0, signal: null })
})
