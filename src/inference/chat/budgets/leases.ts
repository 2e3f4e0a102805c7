/** The account of a budget in this process, and its lease in the store. */
import { type Budget, type BudgetPeriod, periodOf } from '../../../domain/access/budgets.ts'
import type { BudgetStore, LeaseState, LeaseSync } from '../../../store/api/access/budgets.ts'

/** What one process spends of one budget in one period. Money in 10^-9 dollars. */
export interface Account {
  budget: Budget
  readonly period: BudgetPeriod
  readonly leaseId: string
  /** Last state of the store; null before the first. */
  state: LeaseState | null
  held: number
  open: number
  settled: number
  /** The part of `settled` that the store has. */
  synced: number
  usedAtMs: number
  syncedAtMs: number
  /** While a sync may change what is held, nothing is reserved from it. */
  isFrozen: boolean
  /** The store has counted the lease as spent. */
  isLost: boolean
}

/** @param us - of the period, since the epoch */
export function openAccount(
  budget: Budget,
  { us, ms, leaseId }: { readonly us: number; readonly ms: number; readonly leaseId: string },
): Account {
  return {
    budget,
    period: periodOf(budget, us),
    leaseId,
    state: null,
    held: 0,
    open: 0,
    settled: 0,
    synced: 0,
    usedAtMs: ms,
    syncedAtMs: ms,
    isFrozen: false,
    isLost: false,
  }
}

/** What a sync asks for. */
export interface Wish {
  readonly needed: number | null
  readonly spare: number
  readonly isLast: boolean
}

interface LeaseSyncs {
  /** Runs one task after the other: a sync must not meet another one. */
  afterLast<T>(task: () => Promise<T>): Promise<T>
  /**
   * Asks the store. What is unknown after a failure is taken for not granted.
   *
   * @param then - called before others can reserve anything of the accounts
   */
  sync<T>(accounts: readonly Account[], wish: (account: Account) => Wish, then: () => T): Promise<T>
}

export function createLeaseSyncs(
  store: Pick<BudgetStore, 'sync'>,
  nowMs: () => number,
): LeaseSyncs {
  let last: Promise<unknown> = Promise.resolve()

  function apply(account: Account, sent: LeaseSync, state: LeaseState): void {
    account.state = state
    // A lease that has ended is opened again as another one.
    account.isLost = state.is_lost || (sent.is_last && state.held_nanos === 0)
    account.held = state.held_nanos
    account.synced = sent.settled_nanos
    account.syncedAtMs = nowMs()
  }

  return {
    afterLast(task) {
      const next = last.then(task)
      last = next.catch(() => undefined)
      return next
    },
    async sync(accounts, wish, then) {
      const live = accounts.filter(({ isLost }) => !isLost)
      const sent = live.map((account) => toSync(account, wish(account)))
      for (const account of live) account.isFrozen = true
      try {
        const states = live.length === 0 ? [] : await store.sync(sent)
        for (const [index, account] of live.entries()) {
          apply(account, sent[index] as LeaseSync, states[index] as LeaseState)
        }
        return then()
      } catch (error) {
        for (const account of live) {
          account.held = Math.min(account.held, account.open + unsynced(account))
        }
        throw error
      } finally {
        for (const account of live) account.isFrozen = false
      }
    },
  }
}

function toSync(account: Account, { needed, spare, isLast }: Wish): LeaseSync {
  return {
    lease_id: account.leaseId,
    is_open: account.state !== null,
    budget_id: account.budget.id,
    period_start_us: account.period.startUs,
    settled_nanos: account.settled,
    open_nanos: account.open,
    needed_nanos: needed,
    spare_nanos: spare,
    is_last: isLast,
  }
}

export function unsynced({ settled, synced }: Account): number {
  return settled - synced
}
