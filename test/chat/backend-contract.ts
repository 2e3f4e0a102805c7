/** The battery that every inference backend must pass. See src/inference/backend.ts for the contract. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CompletionCall, Delta, InferenceBackend } from '../../src/inference/backend.ts'
import { ChatCompletionRequest } from '../../src/schemas/chat/chat-request.ts'

interface ContractSubject {
  readonly backend: InferenceBackend
  /** The backend's name of a model that answers in at least three deltas. */
  readonly model: string
  /** How many completions hold something (a thread's time, a socket) now. */
  runningCount(): number | Promise<number>
  /** Whether all tests share the backend because opening it is slow; only the last test closes it. */
  readonly isShared?: boolean
}

/** @param create - a backend per test; the battery closes it unless it is shared */
export function describeBackendContract(
  name: string,
  create: () => Promise<ContractSubject>,
): void {
  async function open() {
    const subject = await create()
    if (!subject.isShared) onTestFinished(() => subject.backend.close())
    const start = (
      request: Partial<ChatCompletionRequest> = {},
      signal = new AbortController().signal,
    ) => ask(subject.backend, toCall(subject.model, request), signal)[Symbol.asyncIterator]()
    return { ...subject, start }
  }

  describe(`${name} keeps the InferenceBackend contract`, () => {
    it('a backend declares its treatment of every field of a request', async () => {
      const { backend } = await open()
      expect(Object.keys(backend.fields).sort()).toEqual(
        Object.keys(ChatCompletionRequest.shape).sort(),
      )
    })

    it.each([false, true])(
      'a completion begins with the prompt and ends each choice, stream %s',
      async (stream) => {
        const { start } = await open()
        expectWhole(await drain(start({ stream })), 1)
      },
    )

    it('a backend does nothing before its first delta is requested', async () => {
      const { start, runningCount } = await open()
      const deltas = start({ stream: true })
      await settle()
      expect(await runningCount()).toBe(0)
      await deltas.return?.()
    })

    it('an already aborted signal throws its reason at once', async () => {
      const { start, runningCount } = await open()
      const reason = new Error('gone')
      await expect(start({}, AbortSignal.abort(reason)).next()).rejects.toBe(reason)
      await expectFree(runningCount)
    })

    it('an abort throws its reason within one step', async () => {
      const { start, runningCount } = await open()
      const abort = new AbortController()
      const deltas = start({ stream: true }, abort.signal)
      await deltas.next()
      const reason = new Error('gone')
      abort.abort(reason)
      await expect(drain(deltas, 1)).rejects.toBe(reason)
      await expectFree(runningCount)
    })

    it('an abort during a pending step throws its reason', async () => {
      const { start, runningCount } = await open()
      const abort = new AbortController()
      const deltas = start({ stream: true }, abort.signal)
      const pending = deltas.next()
      const reason = new Error('gone')
      abort.abort(reason)
      await expect(pending.then(() => drain(deltas, 1))).rejects.toBe(reason)
      await expectFree(runningCount)
    })

    it('a backend releases its resources when the reader leaves', async () => {
      const { start, runningCount } = await open()
      const deltas = start({ stream: true })
      await deltas.next()
      await deltas.return?.()
      await expectFree(runningCount)
    })

    it('a backend serves several completions at once', async () => {
      const { start } = await open()
      const answers = await Promise.all([1, 2, 3].map(() => drain(start({ stream: true }))))
      for (const deltas of answers) expectWhole(deltas, 1)
    })

    it('a backend closes, also twice, also during a completion', async () => {
      const { backend, start } = await open()
      const deltas = start({ stream: true })
      await deltas.next()
      const rest = drain(deltas).catch(() => {})
      await Promise.all([backend.close(), backend.close()])
      await backend.close()
      await rest
    })
  })
}

function toCall(model: string, more: Partial<ChatCompletionRequest>): CompletionCall {
  const request = {
    model,
    messages: [{ role: 'user', content: 'hi' }],
    max_tokens: 64,
    ...more,
  }
  return { request, body: JSON.stringify(request), model, requestId: 'contract-1' }
}

/** The deltas of a completion, streamed or whole as its request says. */
async function* ask(
  backend: InferenceBackend,
  call: CompletionCall,
  signal: AbortSignal,
): AsyncIterable<Delta> {
  yield* backend.complete(call, { signal })
}

/** All deltas, or the next `max` of them and then a failure if there are more. */
async function drain(
  deltas: AsyncIterator<Delta>,
  max = Number.POSITIVE_INFINITY,
): Promise<Delta[]> {
  const list: Delta[] = []
  while (list.length <= max) {
    const { done, value } = await deltas.next()
    if (done) return list
    list.push(value)
  }
  throw new Error(`more than ${max} deltas`)
}

function expectWhole(deltas: readonly Delta[], choiceCount: number): void {
  expect(deltas.length).toBeGreaterThan(0)
  if (deltas[0]?.type === 'relayed') {
    expect(deltas.every(({ type }) => type === 'relayed')).toBe(true)
    return
  }
  expect(deltas.map(({ type }) => type)).toEqual(['prompt', ...deltas.slice(1).map(() => 'choice')])
  const ended = new Set<number>()
  for (const delta of deltas) {
    if (delta.type !== 'choice') continue
    expect(ended.has(delta.index)).toBe(false)
    if (delta.finish_reason !== null) ended.add(delta.index)
  }
  expect(ended).toEqual(new Set(Array.from({ length: choiceCount }, (_, index) => index)))
}

async function expectFree(runningCount: ContractSubject['runningCount']): Promise<void> {
  await expect.poll(runningCount).toBe(0)
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
}
