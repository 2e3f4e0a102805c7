/** An upstream that streams completions and counts what it bills, whether anybody reads them or not. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** US dollars of a token, as the price in Weft. */
export const PRICE = { prompt_token_cost: 1e-6, completion_token_cost: 1e-5 }
/** Output tokens of a completion, at most: what clients ask for. */
export const OUTPUT_MAX = 50

interface BillingUpstream {
  /** Ends in /v1. */
  readonly baseUrl: string
  /** US dollars of all requests so far. */
  billed(): number
  /** Completions that were begun. */
  count(): number
  /** Resolves when no completion runs. */
  idle(): Promise<void>
  close(): Promise<void>
}

export async function openBillingUpstream(): Promise<BillingUpstream> {
  let nanos = 0
  let running = 0
  let begun = 0

  async function complete(body: string, response: ServerResponse): Promise<void> {
    const prompt_tokens = Math.floor(body.length * Math.random())
    const completion_tokens = Math.ceil(OUTPUT_MAX * Math.random())
    begun += 1
    nanos += prompt_tokens * PRICE.prompt_token_cost * 1e9
    const head = { id: `c${begun}`, object: 'chat.completion.chunk', created: 1, model: 'billed' }
    const write = (rest: object) =>
      response.write(`data: ${JSON.stringify({ ...head, ...rest })}\n\n`)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let n = 0; n < completion_tokens; n++) {
      // What nobody reads any more is billed as far as it was made.
      if (response.destroyed) return
      nanos += PRICE.completion_token_cost * 1e9
      write({ choices: [{ index: 0, delta: { content: 'word ' }, finish_reason: null }] })
      if (n % 8 === 0) await sleep(2)
    }
    write({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
    const total_tokens = prompt_tokens + completion_tokens
    write({ choices: [], usage: { prompt_tokens, completion_tokens, total_tokens } })
    response.end('data: [DONE]\n\n')
  }

  const server = createServer(async (request, response) => {
    running += 1
    try {
      let body = ''
      for await (const chunk of request.setEncoding('utf8')) body += chunk
      await complete(body, response)
    } catch {
      // The server under torture is gone.
    } finally {
      running -= 1
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    billed: () => nanos / 1e9,
    count: () => begun,
    async idle() {
      while (running > 0) await sleep(10)
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
