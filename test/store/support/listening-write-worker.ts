/** A write thread that writes nothing: it answers each write with the words that it was told so far. */
import { parentPort } from 'node:worker_threads'
import type {
  WriteWorkerReply,
  WriteWorkerRequest,
} from '../../../src/store/sqlite/write/write-serve.ts'

const words: string[] = []

function reply(answer: WriteWorkerReply): void {
  parentPort?.postMessage(answer)
}

parentPort?.on('message', (request: WriteWorkerRequest) => {
  if (typeof request !== 'string') {
    reply({ results: request.map(({ id }) => ({ id, value: words })), lost: [] })
    return
  }
  words.push(request)
  if (request === 'pause') reply('paused')
  if (request === 'close') parentPort?.close()
})
