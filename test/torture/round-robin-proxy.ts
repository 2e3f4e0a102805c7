/**
 * A plain proxy in front of several processes: each request goes to the next one, over connections that are kept alive.
 * As nginx by default, it tries another process only where none has got the request: when nobody listens.
 */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface RoundRobinProxy {
  readonly url: string
  /** Sets the addresses of the processes. */
  setTargets(urls: readonly string[]): void
  /** How many requests got no response from the process that they were sent to. */
  countLost(): number
  close(): Promise<void>
}

export async function openRoundRobinProxy(): Promise<RoundRobinProxy> {
  const agent = new Agent({ keepAlive: true })
  let targets: readonly string[] = []
  let [turn, lost] = [0, 0]

  /** @param others - addresses to try after the first */
  function pass(
    from: IncomingMessage,
    body: Buffer,
    to: ServerResponse,
    [target, ...others]: readonly string[],
  ): void {
    if (target === undefined) {
      refuse(to)
      return
    }
    const { method, headers, url } = from
    const sent = request(target + url, { method: method ?? 'GET', headers, agent })
    sent.on('response', (response) => {
      to.writeHead(response.statusCode ?? 502, response.headers)
      response.on('error', () => to.destroy()).pipe(to)
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') {
        pass(from, body, to, others)
        return
      }
      if (!to.destroyed) lost += 1
      if (to.headersSent) to.destroy()
      else refuse(to)
    })
    to.on('close', () => sent.destroy())
    sent.end(body)
  }

  const server = createServer(async (from, to) => {
    try {
      const body = await buffer(from)
      turn += 1
      const at = turn % targets.length
      pass(from, body, to, [...targets.slice(at), ...targets.slice(0, at)])
    } catch {
      to.destroy()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setTargets(urls) {
      targets = urls
    },
    countLost: () => lost,
    async close() {
      agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function refuse(response: ServerResponse): void {
  response.writeHead(502, { 'content-type': 'application/json' }).end('{}')
}
