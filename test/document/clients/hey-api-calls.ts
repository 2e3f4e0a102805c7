/** The client of @hey-api/openapi-ts: records a call and reads it, lists models. */
import { client } from './hey/client.gen'
import { listModels, readCall, startCall } from './hey/sdk.gen'

declare const process: { readonly argv: readonly string[] }
const [, , url = '', key = ''] = process.argv
client.setConfig({
  baseUrl: url,
  auth: ({ scheme }) => (scheme === 'basic' ? `api:${key}` : key),
})

async function main(): Promise<void> {
  const project_id = 'acme/hey-api'
  const start = {
    project_id,
    op_name: 'answer',
    started_at: '2026-01-01T00:00:00Z',
    attributes: {},
    inputs: {},
  }
  const started = await startCall({ body: { start }, throwOnError: true })
  const { data } = await readCall({
    body: { project_id, id: started.data.id },
    throwOnError: true,
  })
  if (data.call.trace_id !== started.data.trace_id) throw new Error('the call was not read')
  const models = await listModels({ throwOnError: true })
  if (models.data.data.length === 0) throw new Error('no models were read')
}

void main()
