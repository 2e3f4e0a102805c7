/** The contract of the store of budgets, and of the leases by which processes spend them. */
import type { AuditOrigin } from '../../../domain/access/audit.ts'
import type { Budget } from '../../../domain/access/budgets.ts'

/** Whose budgets apply to a request. */
interface BudgetSubjects {
  readonly key_id: string
  /** The empty text: none. */
  readonly project_id: string
  readonly svc_user_id: string
}

/** What one process has spent of a budget in one period, and what it wants. Money in 10^-9 dollars. */
export interface LeaseSync {
  readonly lease_id: string
  /** Whether an earlier sync has made the lease. */
  readonly is_open: boolean
  readonly budget_id: string
  readonly period_start_us: number
  /** Spent by the lease since its begin. */
  readonly settled_nanos: number
  /** Reserved by requests that run. */
  readonly open_nanos: number
  /** Reserved by a request that waits; refused if the budget is used up; null: none waits. */
  readonly needed_nanos: number | null
  /** Wanted for later requests, as far as there is enough. */
  readonly spare_nanos: number
  /** Whether the lease ends if nothing is reserved. */
  readonly is_last: boolean
}

export interface LeaseState {
  /** null: no limit. */
  readonly hard_nanos: number | null
  readonly soft_nanos: number | null
  /** Settled by all. */
  readonly spent_nanos: number
  /** Held by other processes. */
  readonly others_nanos: number
  /** What the process may have reserved and not settled. */
  readonly held_nanos: number
  readonly is_refused: boolean
  /** It had expired, and was counted as spent: nothing of it may be settled again. */
  readonly is_lost: boolean
  /** The budget was deleted. */
  readonly is_gone: boolean
}

export type BudgetLimits = Pick<Budget, 'id' | 'hard_nanos' | 'soft_nanos'>

/** Changes of budgets add entries to the audit list as those of keys do. */
export interface BudgetStore {
  /** The budgets that apply. @throws ApiError store_unavailable */
  findBudgets(subjects: BudgetSubjects): Promise<Budget[]>
  /** All, oldest first; at most BUDGETS_MAX. */
  listBudgets(): Promise<Budget[]>
  findBudget(id: string): Promise<Budget | null>
  /** Resolves when it is durable, as the others do. @throws ApiError validation_failed for more than BUDGETS_MAX */
  createBudget(budget: Budget, by?: AuditOrigin): Promise<void>
  /** Sets both limits. False when there is no such budget. */
  updateBudget(limits: BudgetLimits, by?: AuditOrigin): Promise<boolean>
  deleteBudget(id: string, by?: AuditOrigin): Promise<boolean>
  /** What is spent in a period, and what processes hold. */
  readSpending(budget_id: string, period_start_us: number): Promise<BudgetSpending>
  /**
   * Settles what leases have spent and grants what they want, as one transaction: all that is needed, or none of it.
   * A repetition changes nothing more.
   *
   * @returns a state for each, in order
   * @throws ApiError server_overloaded, store_unavailable: it may be stored
   */
  sync(leases: readonly LeaseSync[]): Promise<LeaseState[]>
}

export interface BudgetSpending {
  readonly spent_nanos: number
  readonly held_nanos: number
}

/** Limit: budgets of a server. */
export const BUDGETS_MAX = 20_000
