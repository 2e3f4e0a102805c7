/** Loaded before a program: ends it when it connects to anything but this machine. */
import { Socket } from 'node:net'

const connect = Socket.prototype.connect

Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
  // Node's own callers give one list of normalized arguments.
  const [first] = args.flat() as [{ host?: string; path?: string }?]
  const host = first?.host ?? 'localhost'
  if (!['127.0.0.1', 'localhost', '::1'].includes(host)) {
    process.stderr.write(`connected to ${host}\n`)
    process.exit(3)
  }
  return Reflect.apply(connect, this, args)
} as typeof connect
