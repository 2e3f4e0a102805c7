/**
 * Counts money against budgets. A process leases amounts from the store and reserves them in memory, so that a request
 * waits for the store only when a lease is used up. What was spent is settled every second.
 *
 * Why no more than one request passes a limit: a request begins only while less than the limit is spent, reserved or
 * leased by others; and none costs more than it has reserved.
 */
import type { Budget } from '../../../domain/access/budgets.ts'
import { ApiError } from '../../../errors.ts'
import type { BudgetStore } from '../../../store/api/access/budgets.ts'
import { type Account, createLeaseSyncs, openAccount, unsynced, type Wish } from './leases.ts'

/** Pause between two settlements. */
const SETTLE_MS = 1_000
/** A lease is renewed in time, and returned when nothing uses it for so long. */
const RENEW_MS = 15_000
const IDLE_MS = 5_000
/** The part of a limit that is leased beyond what is needed. */
const SPARE_PART = 1 / 256
/** Limit: attempts to reserve, each after a lease was lost. */
const ASKS_MAX = 3

export interface Reservation {
  readonly accounts: readonly Account[]
  /** Replaces what is reserved by what was spent; once, later calls do nothing. */
  settle(nanos: number): void
}

export interface BudgetAccounts {
  /**
   * Reserves an amount of all budgets.
   *
   * @returns a promise only if the store must be asked
   * @throws ApiError of `refuse`; store_unavailable, server_overloaded
   */
  reserve(
    budgets: readonly Budget[],
    nanos: number,
    refuse: (account: Account) => Error,
  ): Reservation | Promise<Reservation>
  /** Settles everything and returns all leases. */
  close(): Promise<void>
}

interface AccountsOptions {
  readonly store: Pick<BudgetStore, 'sync'>
  /** Microseconds since the epoch. */
  readonly nowUs: () => number
  readonly nowMs: () => number
  readonly newId: () => string
  /** Called for the first of consecutive failures to settle. */
  readonly onFailure: (error: unknown) => void
}

export function createBudgetAccounts(options: AccountsOptions): BudgetAccounts {
  const { store, nowUs, nowMs, newId, onFailure } = options
  /** By id of the budget: the account of the current period. */
  const current = new Map<string, Account>()
  /** Those with requests of past periods, or of leases that were lost. */
  const past = new Set<Account>()
  const { afterLast, sync } = createLeaseSyncs(store, nowMs)
  let isFailing = false

  function accountOf(budget: Budget): Account {
    const us = nowUs()
    const known = current.get(budget.id)
    const isCurrent = known && us >= known.period.startUs && us < known.period.endUs
    if (isCurrent && !known.isLost) {
      // A lower limit holds at once for what is asked next; what is held is returned by the next settlement.
      known.budget = budget
      return known
    }
    if (known && !known.isLost) past.add(known)
    const made = openAccount(budget, { us, ms: nowMs(), leaseId: newId() })
    current.set(budget.id, made)
    return made
  }

  async function ask(
    budgets: readonly Budget[],
    nanos: number,
    refuse: (account: Account) => Error,
  ): Promise<Reservation> {
    for (let attempt = 0; attempt < ASKS_MAX; attempt++) {
      const accounts = budgets.map(accountOf)
      if (accounts.every((account) => hasRoom(account, nanos)))
        return take(accounts, nanos, nowMs())
      const wish = (account: Account) => ({ needed: nanos, spare: spareOf(account), isLast: false })
      const reservation = await sync(accounts, wish, () => {
        const refused = accounts.find(({ state }) => state?.is_refused)
        if (refused) throw refuse(refused)
        return accounts.some(({ isLost }) => isLost) ? null : take(accounts, nanos, nowMs())
      })
      if (reservation !== null) return reservation
    }
    throw new ApiError('store_unavailable')
  }

  /** Settles what was spent, renews leases in time, and returns those that nothing uses. */
  async function settleAll(isLast = false): Promise<void> {
    const now = nowMs()
    const due = [...current.values(), ...past].filter(
      (account) => isLast || past.has(account) || isDue(account, now),
    )
    try {
      for (let from = 0; from < due.length; from += SYNCED_MAX) {
        const some = due.slice(from, from + SYNCED_MAX)
        await afterLast(() =>
          sync(
            some,
            (account) => toKept(account, isLast || past.has(account), nowMs()),
            () => undefined,
          ),
        )
      }
      isFailing = false
    } catch (error) {
      if (!isFailing) onFailure(error)
      isFailing = true
    }
    for (const account of due) forget(account, now)
  }

  /** Drops accounts of which the store has everything. */
  function forget(account: Account, now: number): void {
    const isUsed = account.open !== 0 || unsynced(account) !== 0 || account.held !== 0
    if (isUsed && !account.isLost) return
    past.delete(account)
    const isIdle = account.isLost || now - account.usedAtMs > IDLE_MS
    if (isIdle && current.get(account.budget.id) === account) current.delete(account.budget.id)
  }

  const timer = setInterval(() => void settleAll(), SETTLE_MS).unref()

  return {
    reserve(budgets, nanos, refuse) {
      const accounts = budgets.map(accountOf)
      if (accounts.every((account) => hasRoom(account, nanos)))
        return take(accounts, nanos, nowMs())
      return afterLast(() => ask(budgets, nanos, refuse))
    },
    async close() {
      clearInterval(timer)
      await settleAll(true)
    },
  }
}

function isDue(account: Account, now: number): boolean {
  const isIdle = account.held > account.open && now - account.usedAtMs > IDLE_MS
  return unsynced(account) !== 0 || now - account.syncedAtMs > RENEW_MS || isIdle
}

/** What is held beyond the open reservations stays, unless nothing uses it. */
function toKept(account: Account, isLast: boolean, now: number): Wish {
  const isDone = isLast || now - account.usedAtMs > IDLE_MS
  const spare = isDone ? 0 : account.held - account.open - unsynced(account)
  return { needed: null, spare: Math.max(0, spare), isLast: isDone }
}

/** Limit: accounts of one transaction. */
const SYNCED_MAX = 100

/** Reserves an amount of accounts that have room. */
function take(accounts: readonly Account[], nanos: number, nowMs: number): Reservation {
  for (const account of accounts) {
    account.open += nanos
    account.usedAtMs = nowMs
  }
  let isOpen = true
  return {
    accounts,
    settle(spent) {
      if (!isOpen) return
      isOpen = false
      for (const account of accounts) {
        account.open -= nanos
        account.settled += spent
      }
    },
  }
}

function hasRoom(account: Account, nanos: number): boolean {
  const { budget, held, open, isFrozen, isLost, state } = account
  if (isFrozen || isLost) return false
  if (budget.hard_nanos === null) return true
  // A limit that was edited holds for all that begins from now on.
  if (state?.hard_nanos !== budget.hard_nanos) return false
  return held - open - unsynced(account) >= nanos
}

function spareOf({ budget, open }: Account): number {
  return Math.max(Math.ceil((budget.hard_nanos ?? 0) * SPARE_PART), Math.ceil(open / 4))
}

/** What is left of a budget, as this process knows. */
export function remainingOf(account: Account): number | null {
  const { budget, state, open } = account
  if (budget.hard_nanos === null) return null
  return budget.hard_nanos - spentOf(account) - (state?.others_nanos ?? 0) - open
}

/** What is spent of it. */
export function spentOf(account: Account): number {
  return (account.state?.spent_nanos ?? 0) + unsynced(account)
}
