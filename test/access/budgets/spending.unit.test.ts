import { describe, expect, it, vi } from 'vitest'
import { createSpending } from '../../../src/inference/chat/budgets/spending.ts'
import type { ServedModel } from '../../../src/inference/models/registry.ts'

const BODY = JSON.stringify({ model: 'm', max_tokens: 10 })
const PRICE = {
  project_id: 'acme/demo',
  id: 'p',
  llm_id: 'm',
  provider_id: 'default',
  effective_at_us: 0,
  prompt_token_cost: '0.000001',
  completion_token_cost: '0.00001',
  cache_read_input_token_cost: null,
  cache_creation_input_token_cost: null,
  svc_user_id: 'u',
  created_at_us: 0,
}
/** In 10^-9 dollars. */
const [INPUT, OUTPUT] = [1_000, 10_000]

type Usage = ReturnType<
  Parameters<ReturnType<typeof createSpending>['reserve']>[0]['record']['usage']
>

async function open(usage: Usage, request: object = { max_tokens: 10 }) {
  const settle = vi.fn()
  const reserve = vi.fn((_budgets: unknown, _nanos: number) => ({ accounts: [], settle }))
  const spending = createSpending({
    budgets: { findBudgets: async () => [{ id: 'b' } as never] },
    prices: { listPrices: async () => [PRICE] },
    accounts: { reserve, close: async () => undefined },
    nowUs: () => 1,
  })
  const charge = await spending.reserve(
    {
      caller: { keyId: 'k', svc_user_id: 'u', svc_username: 'u', scopes: [], projects: [] },
      projectId: 'acme/demo',
      body: BODY,
      request: { ...request },
      record: { usage: () => usage },
      setHeaders: () => undefined,
    },
    { id: 'm', backendModel: 'm', backend: { kind: 'scripted' } } as unknown as ServedModel,
  )
  return { charge, settle, reserved: () => reserve.mock.calls[0]?.[1] }
}

const reported = (counts: object): Usage => ({ counts: { ...counts }, isEstimated: false })

describe('createSpending', () => {
  it.each([
    [{ max_tokens: 10 }, 10],
    [{ max_completion_tokens: 7, n: 3 }, 21],
    [{ max_output_tokens: 8, best_of: 2 }, 16],
    [{}, 16_384],
  ])(
    'reserves a token for each byte of the request, and the output that %j allows',
    async (request, output) => {
      const { reserved } = await open(null, request)
      expect(reserved()).toBe(BODY.length * INPUT + output * OUTPUT)
    },
  )

  it('charges what is reported, however the attempt ended', async () => {
    for (const end of ['complete', 'failed', 'cancelled'] as const) {
      const { charge, settle } = await open(reported({ prompt_tokens: 3, completion_tokens: 2 }))
      charge?.(end)
      expect(settle.mock.calls).toEqual([[3 * INPUT + 2 * OUTPUT]])
    }
  })

  it('charges nothing for a model that failed, and what was reserved for a whole response that was cancelled', async () => {
    const failed = await open(null)
    failed.charge?.('failed')
    expect(failed.settle.mock.calls).toEqual([[0]])
    const cancelled = await open(null)
    cancelled.charge?.('cancelled')
    expect(cancelled.settle.mock.calls).toEqual([[cancelled.reserved()]])
  })

  it('charges a cancelled stream for the prompt, as estimated, and for each chunk', async () => {
    const usage = { counts: { completion_tokens: 4, total_tokens: 4 }, isEstimated: true }
    const { charge, settle } = await open(usage)
    charge?.('cancelled')
    expect(settle.mock.calls).toEqual([[Math.ceil(BODY.length / 4) * INPUT + 4 * OUTPUT]])
  })
})
