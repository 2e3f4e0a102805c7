/** Endless templates and exploding grammars in the real process: they get 400, and no other request is affected. */
import { afterAll, describe, expect, it } from 'vitest'
import { createTinyBackend, type TinyBackendOptions } from '../../../src/inference/tiny/backend.ts'
import type { Fields } from '../running.ts'

/** On a busy machine each start of a process takes a second and more. */
const PATIENT = { timeout: 60_000 }

const open = (options: Partial<TinyBackendOptions>) =>
  createTinyBackend({ queueMax: 8, ...options })
/** A bomb takes a quarter of a second of the processor before it is refused. */
const hasty = open({ allowsChatTemplate: true, hazardCpuMsMax: 250 })
afterAll(() => hasty.close())

const never = new AbortController().signal

async function ask(
  fields: Fields,
  backend = hasty,
  signal = never,
  onText = () => {},
  keyId = 'own',
) {
  const messages = [{ role: 'user', content: 'What is 3 plus 4?' }]
  const request = { messages, temperature: 0, max_tokens: 60, ...fields }
  const call = { request, body: JSON.stringify(request), model: 'tiny', requestId: 'test', keyId }
  let text = ''
  for await (const delta of backend.complete(call, { signal })) {
    if (delta.type !== 'choice') continue
    text += delta.content
    onText()
  }
  return text
}

const refusal = (param: string) => ({ code: 'invalid_value', param })

describe('a request with a grammar or a template', PATIENT, () => {
  const loop = (body: string): string => `{% for i in range(99999) %}${body}{% endfor %}`
  it.each<Record<string, Fields>>([
    {
      chat_template: { chat_template: loop(loop(loop(''))) },
      'structured_outputs.regex': {
        structured_outputs: { regex: '((x{0,3000}y){0,3000}z){0,3000}' },
      },
    },
    {
      chat_template: { chat_template: '{% for i in range(1000000000) %}{% endfor %}' },
      'structured_outputs.choice': {
        structured_outputs: { choice: [1, 2, 3].map((n) => 'x'.repeat(9_990) + n) },
      },
    },
  ])('that is a bomb is refused by its name, and the server goes on', async (bombs) => {
    const plain = ask({ n: 1 })
    const exploded = await Promise.allSettled(Object.values(bombs).map((bomb) => ask(bomb)))
    expect(await plain).toContain('7')
    expect(exploded).toMatchObject(
      Object.keys(bombs).map((param) => ({ status: 'rejected', reason: refusal(param) })),
    )
    expect(await ask({ structured_outputs: { choice: ['after'] } })).toBe('after')
  })

  it('that names no template the model can read is refused', async () => {
    await expect(ask({ chat_template: '{% for %}' })).rejects.toMatchObject(
      refusal('chat_template'),
    )
    expect(await ask({ chat_template: '{{ messages[0].content }}', max_tokens: 1 })).toBeDefined()
  })

  it('shares a thread with others of its key', async () => {
    const texts = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((text) => ask({ structured_outputs: { choice: [text] } })),
    )
    expect(texts).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  it('frees its thread when its reader leaves, waiting or running', async () => {
    const endless = { structured_outputs: { regex: 'a*b' }, logit_bias: {}, max_tokens: 1_900 }
    const leaving = new AbortController()
    // Two of them run and say something, two wait.
    const left = [1, 2, 3, 4].map(() =>
      ask(endless, hasty, leaving.signal, () => leaving.abort(new Error('left'))),
    )
    for (const outcome of await Promise.allSettled(left)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'left' } })
    }
    expect(await ask({ structured_outputs: { choice: ['still here'] } })).toBe('still here')
  })
})

describe("another key's structured output", PATIENT, () => {
  it('comes before most of five templates that loop', async () => {
    let settled = 0
    const template = { chat_template: '{% for i in range(1000000000) %}{% endfor %}' }
    const bombs = Array.from({ length: 5 }, () =>
      ask(template, hasty, never, () => {}, 'bomber').catch((error: unknown) => {
        settled++
        return error
      }),
    )
    const choice = { structured_outputs: { choice: ['mine'] } }
    expect(await ask(choice, hasty, never, () => {}, 'stranger')).toBe('mine')
    expect(settled).toBeLessThan(4)
    for (const bomb of bombs) expect(await bomb).toMatchObject(refusal('chat_template'))
  })
})

describe('schemas of one key that take too long to compile', PATIENT, () => {
  const names = Array.from({ length: 1_200 }, (_, place) => [`p${place}`, { type: 'string' }])
  const json = { type: 'object', properties: Object.fromEntries(names) }
  const bomb = (keyId: string) =>
    ask({ structured_outputs: { json } }, hasty, never, undefined, keyId)

  it("delay no other key's answer by more than one of them", async () => {
    let settled = 0
    const bombs = Array.from({ length: 4 }, () =>
      bomb('bomber').catch((error: unknown) => {
        settled += 1
        return error
      }),
    )
    const choice = { structured_outputs: { choice: ['mine'] } }
    expect(await ask(choice, hasty, never, undefined, 'stranger')).toBe('mine')
    expect(settled).toBeLessThan(3)
    for (const one of bombs) expect(await one).toMatchObject(refusal('structured_outputs.json'))
  })

  it('leave an answer of the same key under way as it is', async () => {
    const regex = '([a-z]{3} ){60}'
    const fields = { structured_outputs: { regex }, max_tokens: 300, seed: 4, temperature: 1 }
    const { promise: started, resolve: onText } = Promise.withResolvers<void>()
    const under = ask(fields, hasty, never, onText, 'same')
    await started
    await expect(bomb('same')).rejects.toMatchObject(refusal('structured_outputs.json'))
    expect(await under).toMatch(new RegExp(`^${regex}$`))
    expect(await ask(fields, hasty, never, undefined, 'same')).toBe(await under)
  })
})

describe('a backend', PATIENT, () => {
  it('ends its processes when it is closed', async () => {
    const closing = open({})
    const endless = { structured_outputs: { regex: 'a{1900}' }, max_tokens: 1_900 }
    const { promise: running, resolve: onText } = Promise.withResolvers<void>()
    const endlessRuns = [1, 2].map(() => ask(endless, closing, never, onText))
    const waiting = [1, 2].map(() => ask({ structured_outputs: { choice: ['x'] } }, closing))
    const outcomes = Promise.allSettled([...endlessRuns, ...waiting])
    await running
    await closing.close()
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'server_draining' } })
    }
  })
})
