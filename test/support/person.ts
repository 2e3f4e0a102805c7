/** Somebody who was invited, without a role. */
import type { Person } from '../../src/domain/access/roles.ts'

export const PERSON: Person = {
  id: 'ada',
  issuer: null,
  subject: null,
  email: null,
  name: 'Ada',
  grants: [],
  claim_grants: [],
  created_at_us: 1,
  signed_in_at_us: null,
  password_set_at_us: null,
  link_expires_at_us: null,
  sessions_from_us: 0,
  disabled_at_us: null,
}
