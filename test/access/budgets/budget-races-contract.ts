/** What budgets must hold in every store, however requests, processes and clocks meet. */
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Budget } from '../../../src/domain/access/budgets.ts'
import {
  type BudgetAccounts,
  createBudgetAccounts,
  type Reservation,
} from '../../../src/inference/chat/budgets/budget-accounts.ts'
import type { BudgetStore } from '../../../src/store/api/access/budgets.ts'

const START_MS = Date.UTC(2026, 0, 15)
const LIMIT = 1_000_000
let ids = 0

function budgetOf(more: Partial<Budget> = {}): Budget {
  return {
    id: `b${ids++}`,
    subject_kind: 'key',
    subject_id: 'k',
    period: 'day',
    zone: 'UTC',
    hard_nanos: LIMIT,
    soft_nanos: null,
    created_at_us: 1,
    ...more,
  }
}

const DEAD = () => Promise.reject(new Error('the process has died'))

/** One process, whose connection to the store can be cut. */
function openProcess(store: BudgetStore) {
  let sync = store.sync
  const processes = {
    crash() {
      sync = DEAD
    },
    /** The next sync is stored, but its response is lost. */
    loseResponse() {
      sync = async (leases) => {
        sync = store.sync
        await store.sync(leases)
        throw new Error('the connection has broken')
      }
    },
  }
  const accounts = createBudgetAccounts({
    store: { sync: (leases) => sync(leases) },
    nowUs: () => Date.now() * 1000,
    nowMs: () => Date.now(),
    newId: () => `lease-${ids++}`,
    onFailure: () => undefined,
  })
  return { accounts, ...processes }
}

const refuse = () => new Error('refused')

async function reserve(
  accounts: BudgetAccounts,
  budgets: readonly Budget[],
  nanos: number,
): Promise<Reservation | null> {
  try {
    return await accounts.reserve(budgets, nanos, refuse)
  } catch (error) {
    if ((error as Error).message !== 'refused') throw error
    return null
  }
}

const dayUs = (day: number) => Date.UTC(2026, 0, day) * 1000

/** @param create - an empty store that closes itself when the test ends */
export function describeBudgetRaces(name: string, create: () => Promise<BudgetStore>): void {
  async function open(more: Partial<Budget> = {}) {
    vi.useFakeTimers({ toFake: ['Date'], now: START_MS })
    const store = await create()
    const budget = budgetOf(more)
    await store.createBudget(budget)
    const spent = async (day = 15) => (await store.readSpending(budget.id, dayUs(day))).spent_nanos
    return { store, budget, spent }
  }

  describe(`${name} counts budgets`, () => {
    afterEach(() => void vi.useRealTimers())

    it('never passes a limit by more than one request, in two processes and all orders', async () => {
      const { store } = await open()
      const step = fc.record({
        process: fc.integer({ min: 0, max: 1 }),
        reserved: fc.integer({ min: 1, max: LIMIT / 2 }),
        part: fc.double({ min: 0, max: 1, noNaN: true }),
        /** How many settle after the step. */
        settles: fc.integer({ min: 0, max: 3 }),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
          const budget = budgetOf()
          await store.createBudget(budget)
          const processes = [openProcess(store), openProcess(store)]
          const running: { reservation: Reservation; cost: number }[] = []
          let total = 0
          let dearest = 0
          const settle = () => {
            const next = running.shift()
            next?.reservation.settle(next.cost)
            next?.reservation.settle(next.cost)
            total += next?.cost ?? 0
          }
          for (const { process, reserved, part, settles } of steps) {
            const accounts = processes[process]?.accounts as BudgetAccounts
            const reservation = await reserve(accounts, [budget], reserved)
            const cost = Math.floor(reserved * part)
            if (reservation !== null) {
              running.push({ reservation, cost })
              dearest = Math.max(dearest, reserved)
            }
            for (let count = 0; count < settles; count++) settle()
          }
          while (running.length > 0) settle()
          for (const { accounts } of processes) await accounts.close()
          const at = await store.readSpending(budget.id, dayUs(15))
          expect(at).toEqual({ spent_nanos: total, held_nanos: 0 })
          expect(total).toBeLessThanOrEqual(LIMIT + dearest)
        }),
        { numRuns: 25 },
      )
    })

    it('admits requests that arrive together only as far as there is money', async () => {
      const { store, budget, spent } = await open()
      const processes = [openProcess(store), openProcess(store)]
      const asked = processes.flatMap(({ accounts }) =>
        Array.from({ length: 20 }, () => reserve(accounts, [budget], LIMIT / 10)),
      )
      const admitted = (await Promise.all(asked)).filter((one) => one !== null)
      expect(admitted.length).toBeGreaterThanOrEqual(9)
      expect(admitted.length).toBeLessThanOrEqual(10)
      for (const reservation of admitted) reservation.settle(LIMIT / 10)
      for (const { accounts } of processes) await accounts.close()
      expect(await spent()).toBe((admitted.length * LIMIT) / 10)
    })

    it('counts what a crashed process had reserved as spent, once, when its lease has expired', async () => {
      const { store, budget, spent } = await open()
      const [dead, other] = [openProcess(store), openProcess(store)]
      await reserve(dead.accounts, [budget], 300_000)
      dead.crash()
      expect(await reserve(other.accounts, [budget], 700_000)).not.toBeNull()
      expect(await reserve(other.accounts, [budget], 1)).toBeNull()
      vi.setSystemTime(START_MS + 61_000)
      await reserve(other.accounts, [budget], 1)
      const charged = await spent()
      expect(charged).toBeGreaterThanOrEqual(300_000)
      expect(charged).toBeLessThanOrEqual(300_000 + LIMIT / 256 + 1)
      await reserve(other.accounts, [budget], 1)
      expect(await spent()).toBe(charged)
    })

    it('counts a settlement once whose response was lost', async () => {
      const { store, budget, spent } = await open()
      const { accounts, loseResponse } = openProcess(store)
      const reservation = await reserve(accounts, [budget], 500_000)
      reservation?.settle(123_456)
      loseResponse()
      await expect(reserve(accounts, [budget], 400_000)).rejects.toThrow('broken')
      await accounts.close()
      expect(await spent()).toBe(123_456)
    })

    it('counts nothing twice of a process that was paused until its lease had expired', async () => {
      const { store, budget, spent } = await open()
      const [paused, other] = [openProcess(store), openProcess(store)]
      const reservation = await reserve(paused.accounts, [budget], 300_000)
      vi.setSystemTime(START_MS + 61_000)
      await reserve(other.accounts, [budget], 1)
      const charged = await spent()
      reservation?.settle(200_000)
      expect(await reserve(paused.accounts, [budget], 100_000)).not.toBeNull()
      expect(await spent()).toBe(charged)
    })

    it('settles a request in the period in which it began', async () => {
      const { store, budget, spent } = await open()
      const { accounts } = openProcess(store)
      const reservation = await reserve(accounts, [budget], LIMIT)
      expect(await reserve(accounts, [budget], 1)).toBeNull()
      vi.setSystemTime(START_MS + 86_400_000)
      const next = await reserve(accounts, [budget], 600_000)
      reservation?.settle(900_000)
      next?.settle(500_000)
      await accounts.close()
      expect([await spent(15), await spent(16)]).toEqual([900_000, 500_000])
    })

    it('counts in the right period when the clock steps ahead and back', async () => {
      const { store, budget, spent } = await open()
      const { accounts } = openProcess(store)
      ;(await reserve(accounts, [budget], LIMIT))?.settle(LIMIT)
      vi.setSystemTime(START_MS + 86_400_000)
      ;(await reserve(accounts, [budget], 10))?.settle(10)
      vi.setSystemTime(START_MS + 1_000)
      expect(await reserve(accounts, [budget], 1)).toBeNull()
      await accounts.close()
      expect([await spent(15), await spent(16)]).toEqual([LIMIT, 10])
    })

    it('a lower limit holds for the next request, and running ones settle', async () => {
      const { store, budget, spent } = await open()
      const { accounts } = openProcess(store)
      const running = await reserve(accounts, [budget], 500_000)
      const edited = { ...budget, hard_nanos: 400_000 }
      await store.updateBudget(edited)
      expect(await reserve(accounts, [edited], 1)).toBeNull()
      running?.settle(450_000)
      const raised = { ...budget, hard_nanos: 500_000 }
      await store.updateBudget(raised)
      ;(await reserve(accounts, [raised], 1))?.settle(1)
      await accounts.close()
      expect(await spent()).toBe(450_001)
    })

    it('all budgets must allow a request, and one that refuses leaves the others as they were', async () => {
      const { store, budget } = await open()
      const small = budgetOf({ subject_kind: 'person', hard_nanos: 100, period: 'life' })
      const watched = budgetOf({ subject_kind: 'project', hard_nanos: null, soft_nanos: 1 })
      await store.createBudget(small)
      await store.createBudget(watched)
      const { accounts } = openProcess(store)
      ;(await reserve(accounts, [budget, small, watched], 100))?.settle(100)
      expect(await reserve(accounts, [budget, small, watched], 100)).toBeNull()
      expect(await reserve(accounts, [budget, watched], 100)).not.toBeNull()
      const found = await store.findBudgets({ key_id: 'k', project_id: 'k', svc_user_id: 'k' })
      expect(found).toEqual([budget, small, watched])
      await accounts.close()
      const { spent_nanos } = await store.readSpending(watched.id, dayUs(15))
      expect(spent_nanos).toBe(100)
    })

    it('a deleted budget counts nothing any more', async () => {
      const { store, budget } = await open({ hard_nanos: 10 })
      const { accounts } = openProcess(store)
      const running = await reserve(accounts, [budget], 10)
      expect(await store.deleteBudget(budget.id)).toBe(true)
      running?.settle(10)
      expect(await reserve(accounts, [budget], 10)).not.toBeNull()
      await accounts.close()
      expect(await store.readSpending(budget.id, dayUs(15))).toEqual({
        spent_nanos: 0,
        held_nanos: 0,
      })
      expect(await store.deleteBudget(budget.id)).toBe(false)
    })
  })
}
