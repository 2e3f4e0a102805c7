/** One connection that requests are written to as bytes, and whose answers are read one after the other. */
import { connect } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly body: any
}

/** Reads answers with a content-length and a JSON body. */
export function createRawClient(port: number) {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  let text = ''
  let wake: () => void = () => undefined
  socket.on('data', (chunk: string) => {
    text += chunk
    wake()
  })
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      resolve()
      wake()
    })
  })
  socket.on('error', () => undefined)

  function take(): RawAnswer | null {
    const end = text.indexOf('\r\n\r\n')
    if (end === -1) return null
    const [line = '', ...lines] = text.slice(0, end).split('\r\n')
    const headers = Object.fromEntries(
      lines.map((header) => {
        const colon = header.indexOf(':')
        return [header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim()]
      }),
    )
    const start = end + 4
    const length = Number(headers['content-length'] ?? 0)
    if (text.length < start + length) return null
    const body = text.slice(start, start + length)
    text = text.slice(start + length)
    return {
      status: Number(line.split(' ')[1]),
      headers,
      body: body === '' ? null : JSON.parse(body),
    }
  }

  return {
    write: (bytes: string | Buffer) => void socket.write(bytes),
    /** The next answer. */
    async read(): Promise<RawAnswer> {
      for (;;) {
        const answer = take()
        if (answer !== null) return answer
        if (socket.destroyed) throw new Error(`the connection ended after ${JSON.stringify(text)}`)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    closed,
    close: () => void socket.destroy(),
  }
}
