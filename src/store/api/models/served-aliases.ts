/** The contract of the store of names by which projects serve models. */
import type { AuditOrigin } from '../../../domain/access/audit.ts'
import type { ServedAlias } from '../../../domain/models/served-alias.ts'

/** Limit: names of a project. */
export const ALIASES_PER_PROJECT_MAX = 1_000

export type AliasSetting = Omit<ServedAlias, 'earlier_json'>
export interface AliasName {
  readonly project_id: string
  readonly name: string
}

/** Changes record themselves in the audit list, in their transaction. */
export interface ServedAliasStore {
  findAlias(alias: AliasName): Promise<ServedAlias | null>
  /** All names of a project, in their order. */
  listAliases(project_id: string): Promise<ServedAlias[]>
  /** Stores what a name serves, new or not. @throws ApiError validation_failed for more than ALIASES_PER_PROJECT_MAX */
  setAlias(setting: AliasSetting, by?: AuditOrigin): Promise<ServedAlias>
  /**
   * Makes the newest earlier target the target again, without a candidate.
   *
   * @returns null: there is no such name
   * @throws ApiError validation_failed when it has no earlier target
   */
  rollBackAlias(
    alias: AliasName & { readonly updated_at_us: number },
    by?: AuditOrigin,
  ): Promise<ServedAlias | null>
  /** @returns whether there was such a name */
  deleteAlias(alias: AliasName, by?: AuditOrigin): Promise<boolean>
}
