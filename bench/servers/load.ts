/**
 * A load generator over plain sockets: each connection sends one request, waits for its answer and
 * sends the next. Cheap enough that the server stays the bottleneck. Only ever aims at 127.0.0.1.
 */
import { connect, type Socket } from 'node:net'

interface LoadOptions {
  readonly port: number
  readonly connections: number
  readonly durationMs: number
  /** The whole bytes of one request, or what makes those of the next. */
  readonly request: Buffer | (() => Buffer)
  /** What a good answer ends with, at most 32 bytes with the end of its last chunk; default: anything. */
  readonly ending?: string
}

export interface LoadResult {
  /** Answers with status 200. */
  readonly answered: number
  readonly failed: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Runs the load once. Answers must carry content-length or come in chunks. */
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
  { port, request, ending = '' }: LoadOptions,
  deadline: number,
  onAnswer: (ms: number, isOk: boolean) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let sentAt = 0
    let answer = createAnswerReader()
    const send = () => {
      sentAt = performance.now()
      socket.write(typeof request === 'function' ? request() : request)
    }
    socket.on('connect', send)
    socket.on('error', reject)
    socket.on('close', () => resolve())
    socket.on('data', (piece: Buffer) => {
      if (!answer.push(piece)) return
      onAnswer(performance.now() - sentAt, answer.isOk() && answer.tail().includes(ending))
      answer = createAnswerReader()
      if (performance.now() < deadline) send()
      else socket.end()
    })
  })
}

const TAIL_BYTES = 32
const LAST_CHUNK = '0\r\n\r\n'

/** Finds the end of one answer without copying the bytes before it. */
function createAnswerReader() {
  let head = ''
  let isHeadRead = false
  /** Bytes of the body still missing; null if it comes in chunks. */
  let left: number | null = 0
  let tail = ''

  /** Takes the next bytes of the body. @returns whether it is complete */
  function pushBody(piece: Buffer): boolean {
    tail = (tail + piece.toString('latin1', Math.max(0, piece.length - TAIL_BYTES))).slice(
      -TAIL_BYTES,
    )
    if (left === null) return tail.endsWith(LAST_CHUNK)
    left -= piece.length
    return left <= 0
  }

  return {
    /** Takes the next bytes. @returns whether the answer is complete */
    push(piece: Buffer): boolean {
      if (isHeadRead) return pushBody(piece)
      const before = head.length
      head += piece.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end === -1) return false
      isHeadRead = true
      const length = /content-length: (\d+)/i.exec(head)?.[1]
      left = length === undefined ? null : Number(length)
      return pushBody(piece.subarray(end + 4 - before))
    },
    isOk: () => head.startsWith('HTTP/1.1 200'),
    /** The last bytes of the body, with the framing of its chunks. */
    tail: () => tail,
  }
}

/** Limit: time to the first event of a stream. */
const FIRST_EVENT_MS_MAX = 10_000

/** Opens streams one after another and keeps them open. @returns their sockets, each past its first event */
export async function openStreams(port: number, request: Buffer, count: number): Promise<Socket[]> {
  const sockets: Socket[] = []
  for (let opened = 0; opened < count; opened++) {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    sockets.push(socket)
    socket.write(request)
    await waitForEvent(socket)
  }
  return sockets
}

function waitForEvent(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = ''
    const fail = () => reject(new Error(`a stream did not open: ${received}`))
    const timer = setTimeout(fail, FIRST_EVENT_MS_MAX)
    socket.on('error', fail)
    socket.on('data', (piece) => {
      if (received.length < 4096) received += piece.toString('latin1')
      if (!received.includes('data: ')) return
      clearTimeout(timer)
      resolve()
    })
  })
}
