/** A client over the types of openapi-typescript: records a call and reads it, and asks a model. */
import createClient from 'openapi-fetch'
import type { paths } from './types'

declare const process: { readonly argv: readonly string[] }
const [, , url = '', key = ''] = process.argv
const headers = { authorization: `Basic ${btoa(`api:${key}`)}` }
const client = createClient<paths>({ baseUrl: url, headers })

async function main(): Promise<void> {
  const project_id = 'acme/openapi-fetch'
  const start = {
    project_id,
    op_name: 'answer',
    started_at: '2026-01-01T00:00:00Z',
    attributes: {},
    inputs: { question: 'Why?' },
  }
  const started = await client.POST('/call/start', { body: { start } })
  if (!started.data) throw new Error(started.error?.error.code)
  const { data } = await client.POST('/call/read', { body: { project_id, id: started.data.id } })
  if (data?.call.op_name !== 'answer') throw new Error('the call was not read')
  const foreign = await client.POST('/call/read', { body: { project_id, id: 'none' } })
  if (foreign.error?.error.code !== 'call_not_found') throw new Error('no error was read')
  // Only `messages` is required: a field with a default may be left out.
  const messages = [{ role: 'user' as const, content: 'What is 3 plus 4?' }]
  const bearer = { authorization: `Bearer ${key}` }
  const chat = await client.POST('/v1/chat/completions', {
    headers: bearer,
    body: { model: 'tiny', messages },
  })
  if (!chat.data) throw new Error('no completion was read')
}

void main()
