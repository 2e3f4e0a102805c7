/** The client of orval over fetch: records a call and reads it, and asks a model. */
import { createChatCompletion, readCall, startCall } from './orval/weft'

declare const process: { readonly argv: readonly string[] }
const [, , url = '', key = ''] = process.argv

// Its functions ask for paths without a server.
const fetchOfPage = globalThis.fetch
globalThis.fetch = (path, init) => fetchOfPage(new URL(String(path), url), init)
const basic = { headers: { authorization: `Basic ${btoa(`api:${key}`)}` } }
const bearer = { headers: { authorization: `Bearer ${key}` } }

async function main(): Promise<void> {
  const project_id = 'acme/orval'
  const start = {
    project_id,
    op_name: 'answer',
    started_at: '2026-01-01T00:00:00Z',
    attributes: {},
    inputs: {},
  }
  const started = await startCall({ start }, basic)
  if (started.status !== 200) throw new Error('the call was not recorded')
  const read = await readCall({ project_id, id: started.data.id }, basic)
  if (read.status !== 200 || read.data.call.op_name !== 'answer')
    throw new Error('no call was read')
  const messages = [{ role: 'user' as const, content: 'What is 3 plus 4?' }]
  const chat = await createChatCompletion({ model: 'tiny', messages }, bearer)
  if (chat.status !== 200) throw new Error('no completion was read')
}

void main()
