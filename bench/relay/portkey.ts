/** Child process of bench/relay.ts: Portkey's gateway as its own start script runs it, on loopback only. */
import { Server } from 'node:net'

const [port, start = ''] = process.argv.slice(2)

const { listen } = Server.prototype
Server.prototype.listen = function (this: Server, ...given: unknown[]) {
  const callback = given.find((argument) => typeof argument === 'function')
  return listen.call(this, { port: Number(port), host: '127.0.0.1' }, callback as () => void)
} as typeof listen

// The gateway writes to the headers of the stream that it fetched, which Node makes read-only. Without this, each of its
// streams fails with status 500.
const { fetch, Response } = globalThis
globalThis.fetch = async (...given: Parameters<typeof fetch>) => {
  const answer = await fetch(...given)
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream')
  return isStream ? new Response(answer.body, answer) : answer
}

process.argv = [process.execPath, start, `--port=${port}`, '--headless']
await import(start)
