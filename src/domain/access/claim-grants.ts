/** Roles by the claims of an identity provider. Pure. */
import type { ClaimRule, RoleGrant } from '../../schemas/access/person.ts'

type Claims = Readonly<Record<string, unknown>>

/** The roles that rules give to somebody with these claims; a rule without a claim gives its role to everybody. */
export function grantsOfClaims(rules: readonly ClaimRule[], claims: Claims): RoleGrant[] {
  return rules
    .filter(({ claim, value }) => claim === undefined || valuesOf(claims, claim).includes(value))
    .map(({ role, projects }) => ({ role, projects }))
}

/** The e-mail in lower case, if the provider has verified it; an invitation would otherwise be anybody's. */
export function verifiedEmail({ email, email_verified }: Claims): string | null {
  const isVerified = email_verified === true || email_verified === 'true'
  return typeof email === 'string' && isVerified ? email.toLowerCase() : null
}

/** A name to show, without control characters; null: none. */
export function nameOfClaims({ name, preferred_username }: Claims): string | null {
  const found = [name, preferred_username].find((text) => typeof text === 'string' && text !== '')
  const shown = String(found ?? '').replace(/[\p{Cc}\p{Cs}]/gu, ' ')
  return shown.trim().slice(0, NAME_CHARS_MAX) || null
}

const NAME_CHARS_MAX = 128

/** The values of a claim as texts: by its name, or by the dotted path of an object. */
function valuesOf(claims: Claims, claim: string): unknown[] {
  const found = Object.hasOwn(claims, claim)
    ? claims[claim]
    : claim.split('.').reduce<unknown>(memberOf, claims)
  return [found].flat().map(String)
}

function memberOf(value: unknown, name: string): unknown {
  const isOwn = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
  return isOwn ? (value as Claims)[name] : undefined
}
