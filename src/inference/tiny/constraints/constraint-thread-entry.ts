/** Compiles grammars, computes their masks and renders clients' templates, one after the other. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Vocabulary } from '../model/model.ts'
import { toPlainError } from '../plain-errors.ts'
import { renderClientTemplate } from '../text/chat-template.ts'
import { type Grammar, type GrammarFollower, openGrammarEngine } from './grammar-engine.ts'
import type { FromThread, Reply, ToThread } from './limited-worker.ts'

const engine = await openGrammarEngine(workerData as Vocabulary)
const grammars = new Map<number, Grammar>()
const followers = new Map<number, GrammarFollower>()

async function handle(message: Exclude<ToThread, { type: 'drop' }>): Promise<Reply> {
  if (message.type === 'load') {
    grammars.set(message.grammar, await engine.compile(message.constraint))
    return { type: 'loaded' }
  }
  if (message.type === 'render') {
    return { type: 'text', text: renderClientTemplate(message.template, message.variables) }
  }
  const follower =
    followers.get(message.follower) ?? (await grammars.get(message.grammar)?.follow())
  if (follower === undefined) throw new Error('the grammar is not loaded')
  followers.set(message.follower, follower)
  for (const id of message.ids) {
    await readMask(follower)
    follower.accept(id)
  }
  return { type: 'mask', mask: await readMask(follower) }
}

async function readMask(follower: GrammarFollower) {
  for (;;) {
    const mask = follower.mask()
    if (mask !== null) return mask
    await follower.ready()
  }
}

function drop({ grammar, follower }: Extract<ToThread, { type: 'drop' }>): void {
  if (follower !== undefined) {
    followers.get(follower)?.end()
    followers.delete(follower)
  }
  if (grammar !== undefined) {
    grammars.get(grammar)?.end()
    grammars.delete(grammar)
  }
}

parentPort?.on('message', (message: ToThread) => {
  if (message.type === 'drop') return drop(message)
  handle(message).then(
    (reply) => parentPort?.postMessage(reply),
    (error: unknown) => parentPort?.postMessage({ type: 'failed', error: toPlainError(error) }),
  )
})
parentPort?.postMessage({ type: 'ready' } satisfies FromThread)
