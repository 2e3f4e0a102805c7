/**
 * A load generator over plain sockets: each connection sends one request, waits for its answer and
 * sends the next. Cheap enough that the server stays the bottleneck. Only ever aims at 127.0.0.1.
 */
import { connect } from 'node:net'

export interface LoadOptions {
  readonly port: number
  readonly connections: number
  readonly durationMs: number
  /** The whole bytes of one request. */
  readonly request: Buffer
}

export interface LoadResult {
  /** Answers with status 200. */
  readonly answered: number
  readonly failed: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Runs the load once. Answers must carry content-length. */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const latencies: number[] = []
  let failed = 0
  const begin = performance.now()
  const deadline = begin + options.durationMs
  await Promise.all(
    Array.from({ length: options.connections }, () =>
      driveConnection(options, deadline, (ms, isOk) => {
        if (isOk) latencies.push(ms)
        else failed += 1
      }),
    ),
  )
  const seconds = (performance.now() - begin) / 1000
  latencies.sort((left, right) => left - right)
  const at = (share: number) => latencies[Math.floor(share * (latencies.length - 1))] ?? Number.NaN
  return {
    answered: latencies.length,
    failed,
    perSecond: latencies.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  }
}

function driveConnection(
  { port, request }: LoadOptions,
  deadline: number,
  onAnswer: (ms: number, isOk: boolean) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let sentAt = 0
    let received = ''
    const send = () => {
      sentAt = performance.now()
      socket.write(request)
    }
    socket.setEncoding('latin1')
    socket.on('connect', send)
    socket.on('error', reject)
    socket.on('close', () => resolve())
    socket.on('data', (chunk: string) => {
      received += chunk
      const end = received.indexOf('\r\n\r\n')
      if (end === -1) return
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0)
      if (received.length < end + 4 + length) return
      onAnswer(performance.now() - sentAt, received.startsWith('HTTP/1.1 200'))
      received = ''
      if (performance.now() < deadline) send()
      else socket.end()
    })
  })
}
