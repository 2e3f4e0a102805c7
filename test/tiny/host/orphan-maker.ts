/** A server with a request that loops in a process of its own; tells that process's id. For tests. */
import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { createTinyBackend } from '../../../src/inference/tiny/backend.ts'

let started = 0
subscribe('child_process', (event) => {
  const { process: child } = event as { readonly process: ChildProcess }
  // The first one is for requests that cannot loop.
  if (++started < 2) return
  // Loaded; the request is sent right after that and then nothing is heard any more.
  child.once('message', () => process.stdout.write(`${child.pid}\n`))
})

const backend = createTinyBackend({
  queueMax: 1,
  allowsChatTemplate: true,
  hazardCpuMsMax: 600_000,
  requestCpuMsMax: 600_000,
})
const loop = (body: string): string => `{% for i in range(99999) %}${body}{% endfor %}`
const request = {
  messages: [{ role: 'user', content: 'x' }],
  chat_template: loop(loop(loop(''))),
}
const call = { request, body: JSON.stringify(request), model: 'tiny', requestId: 'test' }
await backend
  .complete(call, { signal: new AbortController().signal })
  [Symbol.asyncIterator]()
  .next()
