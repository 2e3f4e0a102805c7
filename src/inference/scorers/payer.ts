/** The principal on whose behalf the server works in the background, with the rights of the present. */
import { hasAccess, type Principal, type Scope } from '../../domain/access/permissions.ts'
import { PERSON_KEY_PREFIX, toPersonPrincipal } from '../../domain/access/roles.ts'
import type { Stores } from '../../store/api/stores.ts'

interface PayerNeeds {
  readonly project_id: string
  readonly scopes: readonly Scope[]
}

interface PayerOptions {
  readonly stores: Pick<Stores, 'keys' | 'people'>
  readonly nowUs: () => number
}

/**
 * Returns the principal that was stored with the work, with the models that its key may use by now.
 *
 * @returns `person` or `key` when that is gone, or lacks a scope in the project
 */
export async function readPayer(
  payer: Principal,
  { project_id, scopes }: PayerNeeds,
  { stores, nowUs }: PayerOptions,
): Promise<Principal | 'person' | 'key'> {
  const { keyId } = payer
  const hasScopes = (rights: Parameters<typeof hasAccess>[0]) =>
    scopes.every((scope) => hasAccess(rights, scope, project_id))
  if (keyId.startsWith(PERSON_KEY_PREFIX)) {
    const person = await stores.people.findPerson(keyId.slice(PERSON_KEY_PREFIX.length))
    const isEnabled = person !== null && person.disabled_at_us === null
    return isEnabled && hasScopes(toPersonPrincipal(person)) ? payer : 'person'
  }
  const key = await stores.keys.findKey(keyId)
  // Keys of the server itself are not stored.
  if (key === null) return payer
  const isOver = key.revoked_at_us !== null || (key.expires_at_us ?? Infinity) <= nowUs()
  if (isOver || !hasScopes(key)) return 'key'
  const { models: _old, ...rest } = payer
  return key.models === null ? rest : { ...rest, models: key.models }
}
