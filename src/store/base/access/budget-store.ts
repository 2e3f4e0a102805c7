/** Budgets in SQLite and PostgreSQL alike. */
import { type AuditChange, diffStates, SERVER_ORIGIN } from '../../../domain/access/audit.ts'
import { type Budget, renderLimits } from '../../../domain/access/budgets.ts'
import { ApiError } from '../../../errors.ts'
import {
  BUDGETS_MAX,
  type BudgetLimits,
  type BudgetSpending,
  type BudgetStore,
  type LeaseState,
  type LeaseSync,
} from '../../api/access/budgets.ts'
import type { Dialect } from '../db/dialect.ts'
import { all, count, first, run, type StepRuns, type Steps } from '../db/steps.ts'
import { type AuditStamp, record, stamp } from './audit-store.ts'
import * as SQL from './budgets.sql.ts'

/** How long a lease lasts after its last sync: then its process counts as dead, and the lease as spent. */
const LEASE_US = 60_000_000

interface SyncInput {
  readonly leases: readonly LeaseSync[]
  /** Microseconds since the epoch. */
  readonly now_us: number
}

/** Who makes a change. */
interface Audited {
  readonly by: AuditStamp
}

interface LeaseRow {
  readonly id: string
  readonly held_nanos: number
  readonly settled_nanos: number
  readonly expires_at_us: number
}

type BudgetWrites = ReturnType<typeof createBudgetWrites>

export function createBudgetWrites({ forUpdate }: Pick<Dialect, 'forUpdate'>) {
  const lockBudget = `${SQL.FIND_BUDGET} ${forUpdate}`

  /** Returns the state before anything is granted. */
  function* settle(lease: LeaseSync, now_us: number): Steps<LeaseState> {
    const { lease_id, budget_id, period_start_us } = lease
    const budget = yield* first<Budget>(lockBudget, { id: budget_id })
    const rows = yield* all<LeaseRow>(SQL.LIST_LEASES, { budget_id, period_start_us })
    const own = rows.find(({ id }) => id === lease_id)
    const others = rows.filter(({ id }) => id !== lease_id)
    let spent = lease.settled_nanos - (own?.settled_nanos ?? 0)
    const is_lost = lease.is_open && own === undefined
    if (is_lost) spent = 0
    for (const other of others) {
      if (other.expires_at_us > now_us) continue
      spent += other.held_nanos
      yield* run(SQL.DELETE_LEASE, { id: other.id })
    }
    if (budget !== undefined && spent !== 0) {
      yield* run(SQL.ADD_SPENDING, { budget_id, period_start_us, nanos: spent })
    }
    const live = others.filter(({ expires_at_us }) => expires_at_us > now_us)
    const { spent_nanos } = yield* readSpending({ budget_id, period_start_us })
    const hard_nanos = budget?.hard_nanos ?? null
    const others_nanos = live.reduce((sum, { held_nanos }) => sum + held_nanos, 0)
    const left =
      hard_nanos === null
        ? Number.POSITIVE_INFINITY
        : hard_nanos - spent_nanos - others_nanos - lease.open_nanos
    return {
      hard_nanos,
      soft_nanos: budget?.soft_nanos ?? null,
      spent_nanos,
      others_nanos,
      held_nanos: lease.open_nanos,
      is_refused: lease.needed_nanos !== null && left <= 0,
      is_lost,
      is_gone: budget === undefined,
    }
  }

  return {
    ...createEdits(lockBudget),
    *sync_budgets({ leases, now_us }: SyncInput): Steps<LeaseState[]> {
      const states: LeaseState[] = []
      for (const lease of leases) states.push(yield* settle(lease, now_us))
      const isGranted = !states.some(({ is_refused, is_lost }) => is_refused || is_lost)
      for (const [index, lease] of leases.entries()) {
        const state = states[index] as LeaseState
        if (state.is_lost) continue
        const held_nanos = isGranted ? grant(lease, state) : lease.open_nanos
        states[index] = { ...state, held_nanos }
        const { lease_id: id, budget_id, period_start_us, settled_nanos } = lease
        const isOver = (lease.is_last && held_nanos === 0) || state.is_gone
        if (isOver) yield* run(SQL.DELETE_LEASE, { id })
        else {
          const row = { id, budget_id, period_start_us, held_nanos, settled_nanos }
          yield* run(SQL.PUT_LEASE, { ...row, expires_at_us: now_us + LEASE_US })
        }
      }
      return states
    },
  }
}

/** The changes that admins make. @param lockBudget - a statement that reads a budget and locks it */
function createEdits(lockBudget: string) {
  return {
    *create_budget({ by, ...budget }: Budget & Audited): Steps<void> {
      yield* run(SQL.INSERT_BUDGET, budget)
      if ((yield* count(SQL.COUNT_BUDGETS, {})) > BUDGETS_MAX) {
        throw new ApiError('validation_failed', {
          message: `A server has at most ${BUDGETS_MAX} budgets.`,
        })
      }
      const states = { before: null, after: renderLimits(budget) }
      yield* recordBudget(by, budget, { action: 'budget.create', ...states })
    },
    *update_budget({ by, ...limits }: BudgetLimits & Audited): Steps<boolean> {
      const budget = yield* first<Budget>(lockBudget, { id: limits.id })
      if (budget === undefined) return false
      yield* run(SQL.UPDATE_BUDGET, limits)
      const states = diffStates(renderLimits(budget), renderLimits({ ...budget, ...limits }))
      yield* recordBudget(by, budget, { action: 'budget.update', ...states })
      return true
    },
    *delete_budget({ id, by }: Audited & { readonly id: string }): Steps<boolean> {
      const budget = yield* first<Budget>(lockBudget, { id })
      yield* run(SQL.DELETE_LEASES, { id })
      yield* run(SQL.DELETE_SPENDING, { id })
      if (budget === undefined) return false
      yield* run(SQL.DELETE_BUDGET, { id })
      const states = { before: renderLimits(budget), after: null }
      yield* recordBudget(by, budget, { action: 'budget.delete', ...states })
      return true
    },
  }
}

/** A budget of a key is about the projects of the key, one of a person about all. */
function* recordBudget(
  by: AuditStamp,
  { id, subject_kind, subject_id }: Budget,
  change: Pick<AuditChange, 'action' | 'before' | 'after'>,
): Steps<void> {
  const key =
    subject_kind === 'key'
      ? yield* first<{ projects_json: string }>(SQL.FIND_KEY_PROJECTS, { id: subject_id })
      : undefined
  const ofKey = key === undefined ? ['*'] : (JSON.parse(key.projects_json) as string[])
  const projects = subject_kind === 'project' ? [subject_id] : ofKey
  yield* record(by, { ...change, subject_id: id, projects })
}

/** What is needed is granted as a whole: one request may pass the limit, which then refuses all others. */
function grant(lease: LeaseSync, { hard_nanos, spent_nanos, others_nanos }: LeaseState): number {
  const least = lease.open_nanos + (lease.needed_nanos ?? 0)
  if (hard_nanos === null) return least
  return Math.max(
    least,
    Math.min(least + lease.spare_nanos, hard_nanos - spent_nanos - others_nanos),
  )
}

function* readSpending(at: {
  readonly budget_id: string
  readonly period_start_us: number
}): Steps<BudgetSpending> {
  const spending = yield* first<{ spent_nanos: number }>(SQL.FIND_SPENDING, at)
  const leases = yield* all<LeaseRow>(SQL.LIST_LEASES, at)
  const held_nanos = leases.reduce((sum, lease) => sum + lease.held_nanos, 0)
  return { spent_nanos: spending?.spent_nanos ?? 0, held_nanos }
}

/** @param nowUs - microseconds since the epoch; default: the clock of the machine */
export function createBudgetStore(
  { read, write }: StepRuns<BudgetWrites>,
  nowUs: () => number = () => Date.now() * 1000,
): BudgetStore {
  return {
    findBudgets: (subjects) => read(all<Budget>(SQL.FIND_BUDGETS, subjects)),
    listBudgets: () => read(all<Budget>(SQL.LIST_BUDGETS, { limit: BUDGETS_MAX })),
    async findBudget(id) {
      return (await read(first<Budget>(SQL.FIND_BUDGET, { id }))) ?? null
    },
    createBudget: (budget, by = SERVER_ORIGIN) =>
      write('create_budget', { ...budget, by: stamp(by) }),
    updateBudget: (limits, by = SERVER_ORIGIN) =>
      write('update_budget', { ...limits, by: stamp(by) }),
    deleteBudget: (id, by = SERVER_ORIGIN) => write('delete_budget', { id, by: stamp(by) }),
    readSpending: (budget_id, period_start_us) =>
      read(readSpending({ budget_id, period_start_us })),
    sync: (leases) => write('sync_budgets', { leases, now_us: nowUs() }),
  }
}
