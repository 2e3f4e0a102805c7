import { describe, expect, it } from 'vitest'
import { createModelProbe, PROBE_TTL_MS } from '../../src/inference/openai/model-probe.ts'

const listing = (length: unknown) => ({
  data: [{ id: 'm', max_model_len: length }, null, { id: 7 }],
})

/** A source that gives its answers in turn, the last one for ever. */
function sourceOf(answers: readonly unknown[], model: string | null = null) {
  let askedCount = 0
  return {
    model,
    async load() {
      const answer = answers[Math.min(askedCount++, answers.length - 1)]
      if (answer instanceof Error) throw answer
      return answer
    },
    askedCount: () => askedCount,
  }
}

function openSources(...sources: ReturnType<typeof sourceOf>[]) {
  let now = 0
  const probe = createModelProbe({ nowMs: () => now, sources })
  async function find(model = 'm') {
    probe.find(model)
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    return probe.find(model)
  }
  return { find, probe, pass: (ms: number) => (now += ms) }
}

function open(...answers: unknown[]) {
  const source = sourceOf(answers)
  return { ...openSources(source), askedCount: source.askedCount }
}

describe('createModelProbe', () => {
  it('reads the length that llama-server tells as meta.n_ctx', async () => {
    const { find } = open({ data: [{ id: 'm', meta: { n_ctx: 2048 } }] })
    expect(await find()).toEqual({ max_model_len: 2048 })
  })

  it('reads the only model of llama-server under any name', async () => {
    const only = { id: '/models/a.gguf', meta: { n_ctx: 2048 } }
    expect(await open({ data: [only] }).find('local')).toEqual({ max_model_len: 2048 })
    expect(await open({ data: [only, { id: 'b' }] }).find('local')).toEqual({})
  })

  it('never waits: the first reader gets nothing, the next one what was told', async () => {
    const { probe, find } = open(listing(4096))
    expect(probe.find('m')).toEqual({})
    expect(await find()).toEqual({ max_model_len: 4096 })
    expect(await find('other')).toEqual({})
  })

  it('asks once in its time, however many read', async () => {
    const { find, askedCount, pass } = open(listing(1))
    for (let at = 0; at < 10; at++) await find()
    pass(PROBE_TTL_MS - 1)
    await find()
    expect(askedCount()).toBe(1)
    pass(1)
    await find()
    expect(askedCount()).toBe(2)
  })

  it.each([
    ['fails', new Error('x')],
    ['answers nonsense', { data: 7 }],
    ['answers nothing', undefined],
  ])('keeps what was told while the upstream %s', async (_name, answer) => {
    const { find, pass } = open(listing(4096), answer, listing(1))
    await find()
    pass(PROBE_TTL_MS)
    expect(await find()).toEqual({ max_model_len: 4096 })
    pass(PROBE_TTL_MS)
    expect(await find()).toEqual({ max_model_len: 1 })
  })

  it.each([[null], ['4096'], [-1], [1.5], [undefined]])(
    'passes over a length of %j',
    async (length) => {
      expect(await open(listing(length)).find()).toEqual({})
    },
  )

  it('asks the next upstream when one fails, and that one first from then on', async () => {
    const [down, up] = [sourceOf([new Error('x')]), sourceOf([listing(4096), listing(1)])]
    const { find, pass } = openSources(down, up)
    expect(await find()).toEqual({ max_model_len: 4096 })
    pass(PROBE_TTL_MS)
    expect(await find()).toEqual({ max_model_len: 1 })
    expect([down.askedCount(), up.askedCount()]).toEqual([1, 2])
  })

  it('keeps the last listing while all of them fail', async () => {
    const failure = new Error('x')
    const [one, two] = [sourceOf([failure]), sourceOf([listing(4096), failure, listing(1)])]
    const { find, pass } = openSources(one, two)
    await find()
    pass(PROBE_TTL_MS)
    expect(await find()).toEqual({ max_model_len: 4096 })
    expect([one.askedCount(), two.askedCount()]).toEqual([2, 2])
  })

  it('knows the model by the name that the answering upstream has for it', async () => {
    const { find } = openSources(sourceOf([{ data: 7 }]), sourceOf([listing(4096)], 'm'))
    expect(await find('org/m')).toEqual({ max_model_len: 4096 })
  })
})
