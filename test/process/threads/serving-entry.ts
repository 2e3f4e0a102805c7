/** Entry of a thread whose requests name what it does. */
import { ApiError } from '../../../src/errors.ts'
import { serveThread } from '../../../src/threads/serve-thread.ts'

serveThread<string, unknown, string>((notify) => ({
  async run(request, isCancelled) {
    notify(request)
    if (request === 'refuse') throw new ApiError('call_conflict', { param: 'id', retryAfterS: 7 })
    if (request === 'fail') throw new TypeError('broken')
    if (request === 'die') process.exit(3)
    while (request === 'wait' && !isCancelled()) await new Promise(setImmediate)
    return request === 'bytes' ? new Uint8Array(8) : request
  },
}))
