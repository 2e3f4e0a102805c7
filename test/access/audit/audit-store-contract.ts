/** What every AuditStore must do beside the stores whose changes it lists, whatever they store in. */
import { describe, expect, it } from 'vitest'
import type { AuditChange, AuditOrigin } from '../../../src/domain/access/audit.ts'
import {
  AUDIT_PER_PART,
  type AuditListing,
  listAuditParts,
} from '../../../src/store/api/access/audit.ts'
import type { Stores } from '../../../src/store/api/stores.ts'

type AuditedStores = Pick<Stores, 'audit' | 'keys' | 'people' | 'budgets' | 'retention'>

const ADA: AuditOrigin = {
  svc_user_id: 'ada',
  key_id: 'k-ada',
  address: '192.0.2.7',
  forwarded_for: null,
}
const BOB: AuditOrigin = { ...ADA, svc_user_id: 'bob', forwarded_for: '198.51.100.9' }
const RIGHTS = { svc_user_id: 'u', svc_username: 'U', scopes: ['inference'], projects: ['acme/*'] }
const KEY = RIGHTS as Parameters<Stores['keys']['createKey']>[0]
const DELETED: AuditChange = {
  action: 'calls.delete',
  subject_id: 'acme/demo',
  projects: ['acme/demo'],
  before: { call_ids: ['a'] },
  after: null,
}
const ALL: AuditListing = {
  from_us: 0,
  until_us: Number.MAX_SAFE_INTEGER,
  svc_user_id: null,
  action: null,
  after: null,
  order: 'asc',
}

async function list({ audit }: Pick<Stores, 'audit'>, listing: Partial<AuditListing> = {}) {
  const found = []
  for await (const part of listAuditParts(audit, { ...ALL, ...listing })) found.push(...part)
  return found.map(({ before_json, after_json, ...entry }) => ({
    ...entry,
    before: before_json && JSON.parse(before_json),
    after: after_json && JSON.parse(after_json),
  }))
}

/** @param create - empty stores that close themselves when the test ends */
export function describeAuditContract(name: string, create: () => Promise<AuditedStores>): void {
  describe(`${name} keeps the AuditStore contract`, () => {
    it('the changes of a key are listed with who, from where, before and after, without secrets', async () => {
      const stores = await create()
      const { keys } = stores
      const { id, secret } = await keys.createKey(KEY, ADA)
      const {
        id: _id,
        created_at_us,
        ...found
      } = (await keys.findKey(id)) as never as {
        id: string
        created_at_us: number
      }
      const settings = { ...(found as never as object), name: 'nightly', projects: ['*'] } as never
      await keys.updateKey({ id, settings }, BOB)
      const next = await keys.rotateKey({ id, previous_expires_at_us: 1 }, BOB)
      await keys.revokeKey(id)
      expect(await keys.revokeKey(id, ADA)).toBe(false)
      const entries = await list(stores)
      const shown = { svc_user_id: 'u', projects: ['acme/*'], revoked_at: null }
      const projects = ['acme/*', '*']
      expect(entries).toMatchObject([
        { ...ADA, action: 'key.create', before: null, after: shown, projects: ['acme/*'] },
        {
          ...BOB,
          action: 'key.update',
          before: { name: null, projects: ['acme/*'] },
          after: { name: 'nightly', projects: ['*'] },
          projects,
        },
        { ...BOB, action: 'key.rotate', before: { previous_secret_expires_at: null } },
        {
          svc_user_id: 'server',
          address: null,
          action: 'key.revoke',
          before: { revoked_at: null },
        },
      ])
      expect(Object.keys(entries[1]?.after)).toEqual(['projects', 'name'])
      expect(entries.every(({ subject_id }) => subject_id === id)).toBe(true)
      expect(entries[0]?.created_at_us).toBeGreaterThanOrEqual(created_at_us)
      const text = JSON.stringify(entries)
      for (const one of [secret, next ?? 'none']) expect(text).not.toContain(one)
    })

    it('the changes of budgets, retention and people are listed, and those that find nothing are not', async () => {
      const stores = await create()
      const { budgets, retention, people, keys } = stores
      const { id: key_id } = await keys.createKey(KEY)
      const budget = {
        id: 'b',
        subject_kind: 'key',
        subject_id: key_id,
        period: 'month',
        zone: 'UTC',
        hard_nanos: 2e9,
        soft_nanos: null,
        created_at_us: 1,
      } as const
      await budgets.createBudget(budget, ADA)
      await budgets.updateBudget({ id: 'b', hard_nanos: 3e9, soft_nanos: null }, ADA)
      await budgets.deleteBudget('b', ADA)
      await budgets.deleteBudget('b', ADA)
      await budgets.updateBudget({ id: 'b', hard_nanos: 1, soft_nanos: null }, ADA)
      await retention.setRetention({ project_id: 'acme/demo', retention_days: 30 }, ADA)
      await retention.setRetention({ project_id: 'acme/demo', retention_days: null }, ADA)
      const projects = ['acme/*']
      expect((await list(stores)).slice(1)).toMatchObject([
        {
          action: 'budget.create',
          subject_id: 'b',
          projects,
          before: null,
          after: { hard_usd: 2 },
        },
        { action: 'budget.update', projects, before: { hard_usd: 2 }, after: { hard_usd: 3 } },
        {
          action: 'budget.delete',
          projects,
          before: { period: 'month', hard_usd: 3 },
          after: null,
        },
        { action: 'retention.update', before: null, after: { retention_days: 30 } },
        { before: { retention_days: 30 }, after: { retention_days: null } },
      ])
      await recordPeople(people)
      const unassigned = { projects: ['*'] }
      expect((await list(stores)).slice(6)).toMatchObject([
        { ...ADA, action: 'person.create', subject_id: 'p', ...unassigned, before: null },
        { action: 'person.update', before: { name: null }, after: { name: 'Eve' } },
        {
          svc_user_id: 'p',
          key_id: 'person-p',
          address: '203.0.113.1',
          action: 'person.sign_in',
          projects: ['acme/demo'],
          before: { subject: null, claim_grants: [], signed_in_at: null },
          after: { subject: 's', signed_in_at: '1970-01-01T00:00:00.000005Z' },
        },
        { svc_user_id: 'p', action: 'person.sign_out', before: {}, after: {} },
      ])
    })

    it('a change whose entry cannot be written is undone', async () => {
      const stores = await create()
      const nobody = { ...ADA, svc_user_id: null as never }
      await expect(stores.keys.createKey(KEY, nobody)).rejects.toThrow()
      const set = { project_id: 'acme/demo', retention_days: 1 }
      await expect(stores.retention.setRetention(set, nobody)).rejects.toThrow()
      expect(await stores.keys.listKeys()).toEqual([])
      expect(await stores.retention.findRetention('acme/demo')).toBeNull()
      expect(await list(stores)).toEqual([])
    })

    it('entries are listed by time, user and action in both orders, each once, also in many parts', async () => {
      const stores = await create()
      const { audit } = stores
      const count = AUDIT_PER_PART + 3
      const exported = { ...DELETED, action: 'calls.export' } as const
      for (let n = 0; n < count; n++) {
        await audit.record(n % 100 === 0 ? exported : DELETED, n % 2 === 0 ? ADA : BOB)
      }
      const all = await list(stores)
      expect(new Set(all.map(({ id }) => id)).size).toBe(count)
      expect(await list(stores, { order: 'desc' })).toEqual(all.toReversed())
      const of = async (listing: Partial<AuditListing>) => (await list(stores, listing)).length
      expect(await of({ svc_user_id: 'bob' })).toBe(Math.floor(count / 2))
      expect(await of({ action: 'calls.export' })).toBe(3)
      expect(await of({ action: 'calls.export', svc_user_id: 'ada', order: 'desc' })).toBe(3)
      expect(await of({ action: 'calls.export', svc_user_id: 'bob' })).toBe(0)
      const [first, middle] = [all[0], all[100]]
      if (first === undefined || middle === undefined) throw new Error('too few entries')
      const until_us = middle.created_at_us
      const isEarlier = ({ created_at_us }: typeof middle) => created_at_us < until_us
      const earlier = all.filter(isEarlier)
      expect(await list(stores, { until_us })).toEqual(earlier)
      expect(await list(stores, { until_us, order: 'desc' })).toEqual(earlier.toReversed())
      expect(await list(stores, { from_us: until_us, after: first })).toEqual(
        all.filter((entry) => !isEarlier(entry)),
      )
      expect(await list(stores, { after: middle })).toEqual(all.slice(101))
      expect(await list(stores, { after: middle, order: 'desc' })).toEqual(
        all.slice(0, 100).toReversed(),
      )
      expect(await audit.findEntry(middle.id)).toMatchObject({
        id: middle.id,
        action: 'calls.export',
      })
      expect(await audit.findEntry('unknown')).toBeNull()
    })

    it('entries expire in parts, the oldest first, and none at or after the time', async () => {
      const stores = await create()
      for (let n = 0; n < 3; n++) await stores.audit.record(DELETED, ADA)
      const until_us = Date.now() * 1000 + 2_000_000
      await expect.poll(() => Date.now() * 1000, { timeout: 5000 }).toBeGreaterThan(until_us)
      await stores.audit.record(DELETED, BOB)
      expect(await stores.audit.expireEntries(until_us)).toBe(3)
      expect(await stores.audit.expireEntries(until_us)).toBe(0)
      expect(await list(stores)).toMatchObject([BOB])
    })
  })
}

/** A person who is invited, edited, signs in and out; what finds nobody or is refused is left out. */
async function recordPeople(people: Stores['people']): Promise<void> {
  const person = {
    id: 'p',
    issuer: null,
    subject: null,
    email: 'eve@acme.example',
    name: null,
    grants: [],
    claim_grants: [],
    created_at_us: 1,
    signed_in_at_us: null,
    password_set_at_us: null,
    link_expires_at_us: null,
    sessions_from_us: 0,
    disabled_at_us: null,
  }
  await people.createPerson(person, ADA)
  await expect(people.createPerson(person, ADA)).rejects.toMatchObject({ code: 'person_conflict' })
  const { id, grants, disabled_at_us, sessions_from_us } = person
  const edit = { id, name: 'Eve', grants, disabled_at_us, sessions_from_us }
  await people.updatePerson(edit, ADA)
  await people.updatePerson({ ...edit, id: 'nobody' }, ADA)
  const from = { address: '203.0.113.1', forwarded_for: null }
  const named = { issuer: 'i', subject: 's', email: person.email, name: null, now_us: 5 }
  const stranger = { ...named, id: 'x', subject: 't', email: null, claim_grants: [] }
  expect(await people.signIn(stranger, from)).toBeNull()
  const claim_grants = [{ role: 'viewer' as const, projects: ['acme/demo'] }]
  await people.signIn({ ...named, id: 'y', claim_grants }, from)
  await people.endSessions({ id, now_us: 9 }, from)
  await people.endSessions({ id, now_us: 9 }, from)
}
