/** A way to PostgreSQL that a test can cut. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

interface PostgresProxy {
  /** Address of the database through the proxy. */
  readonly url: string
  /** Closes all connections, and new ones until it is repaired. */
  cut(): void
  mend(): void
  /** From now on requests reach the server, but its answers are lost. */
  loseAnswers(): void
}

/** @param address - as makeDatabase gives it; the proxy ends with the test */
export async function openProxy(address: string): Promise<PostgresProxy> {
  const { hostname, port, username, password, pathname } = new URL(address)
  const host = decodeURIComponent(hostname)
  const target = host.startsWith('/')
    ? { path: `${host}/.s.PGSQL.5432` }
    : { host, port: Number(port || 5432) }
  const sockets = new Set<Socket>()
  let state: 'open' | 'cut' | 'deaf' = 'open'

  const server = createServer((client) => {
    const upstream = connect(target)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    if (state === 'cut') return void client.destroy()
    client.pipe(upstream)
    upstream.on('data', (bytes) => state === 'open' && client.write(bytes))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const end = () => {
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(() => {
    end()
    server.close()
  })
  const at = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const user = password === '' ? username : `${username}:${password}`
  return {
    url: `postgres://${user}@${at}${pathname}`,
    cut() {
      state = 'cut'
      end()
    },
    mend() {
      state = 'open'
    },
    loseAnswers() {
      state = 'deaf'
    },
  }
}
