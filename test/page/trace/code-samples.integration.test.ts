import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  completionRequest,
  LANGUAGES,
  type Language,
  sampleOf,
} from '../../../src/page/trace/code-samples.ts'

const run = promisify(execFile)

const COMMANDS: Readonly<Record<Language, (text: string) => readonly [string, readonly string[]]>> =
  {
    curl: (text) => ['sh', ['-c', text]],
    Python: (text) => ['python3', ['-c', text]],
    JavaScript: (text) => [process.execPath, ['--input-type=module', '-e', text]],
  }

interface Received {
  readonly url: string
  readonly authorization: string
  readonly body: unknown
}

async function openReceiver() {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks = await Array.fromAsync<Buffer>(request)
    const { url = '', headers } = request
    const body = JSON.parse(Buffer.concat(chunks).toString())
    received.push({ url, authorization: headers.authorization ?? '', body })
    response.end('received')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { received, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const ODD = `it's "odd" \\ \${x} $HOME \`id\` %s\n\u2028 é {}`

describe('programs that a call is copied as', () => {
  it.each(LANGUAGES)(
    'send the same request in %s, with the key of the environment',
    async (language) => {
      const { received, origin } = await openReceiver()
      const messages = [{ role: 'user', content: ODD }]
      const inputs = {
        self: {},
        model: 'owl',
        messages,
        stream: true,
        temperature: 0.5,
        stop: null,
      }
      const requests = [
        completionRequest(origin, inputs),
        {
          origin,
          path: '/calls/stream_query',
          body: { project_id: ODD, deep: [true, null, 1e-7] },
        },
      ]
      for (const request of requests) {
        const [file, parameters] = COMMANDS[language](sampleOf(language, request))
        const { stdout } = await run(file, parameters, {
          env: { ...process.env, WEFT_KEY: 'wk_1' },
        })
        expect(stdout.trim()).toBe('received')
      }
      expect(received).toEqual([
        {
          url: '/v1/chat/completions',
          authorization: 'Bearer wk_1',
          body: { model: 'owl', messages, temperature: 0.5, stop: null },
        },
        {
          url: '/calls/stream_query',
          authorization: `Basic ${Buffer.from('api:wk_1').toString('base64')}`,
          body: requests[1]?.body,
        },
      ])
    },
  )
})
