/** The client of openapi-generator for fetch: records a call and reads it, lists models. */
import { CallsApi, Configuration, InferenceApi } from './generated'

declare const process: { readonly argv: readonly string[] }
const [, , url = '', key = ''] = process.argv
const configuration = new Configuration({
  basePath: url,
  username: 'api',
  password: key,
  accessToken: key,
})

async function main(): Promise<void> {
  const calls = new CallsApi(configuration)
  const start = {
    projectId: 'acme/generator',
    opName: 'answer',
    startedAt: new Date('2026-01-01T00:00:00Z'),
    attributes: {},
    inputs: {},
  }
  const { id } = await calls.startCall({ callStartRequest: { start } })
  const { call } = await calls.readCall({ callReadRequest: { projectId: start.projectId, id } })
  if (call.opName !== 'answer') throw new Error('the call was not read')
  const models = await new InferenceApi(configuration).listModels()
  if (models.data.length === 0) throw new Error('no models were read')
}

void main()
