/** What every store of passwords promises. */
import { describe, expect, it } from 'vitest'
import type { Stores } from '../../../src/store/api/stores.ts'

const ADA = { svc_user_id: 'admin', key_id: 'key', address: null, forwarded_for: null }
const FROM = { address: '203.0.113.1', forwarded_for: null }
const PERSON = {
  id: 'p',
  issuer: null,
  subject: null,
  email: 'ada@acme.example',
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

/** @param open - opens an empty store, which ends with the test */
export function describePasswordContract(
  name: string,
  open: () => Promise<Pick<Stores, 'people' | 'passwords'>>,
): void {
  describe(`passwords of ${name}`, () => {
    it('a link sets a password once, also when two processes use it at once', async () => {
      const { people, passwords } = await open()
      await people.createPerson(PERSON)
      const link = { id: 'p', link_hash: 'l', link_expires_at_us: 100, now_us: 5 }
      expect(await passwords.createLink({ ...link, id: 'nobody' }, ADA)).toBe(false)
      expect(await passwords.createLink(link, ADA)).toBe(true)
      expect(await passwords.hasLink({ link_hash: 'l', now_us: 99 })).toBe(true)
      expect(await passwords.hasLink({ link_hash: 'l', now_us: 100 })).toBe(false)
      const late = { link_hash: 'l', password_hash: 'late', now_us: 100 }
      expect(await passwords.setByLink(late, FROM)).toBeNull()
      const uses = ['a', 'b', 'c'].map((password_hash) =>
        passwords.setByLink({ link_hash: 'l', password_hash, now_us: 6 }, FROM),
      )
      const set = (await Promise.all(uses)).filter((person) => person !== null)
      expect(set).toMatchObject([
        { id: 'p', password_set_at_us: 6, link_expires_at_us: null, sessions_from_us: 6 },
      ])
      expect(await people.findPerson('p')).toEqual(set[0])
    })

    it('a password that has changed since it was checked signs nobody in and is not replaced', async () => {
      const { people, passwords } = await open()
      await people.createPerson(PERSON)
      const link = { id: 'p', link_hash: 'l', link_expires_at_us: 100, now_us: 5 }
      await passwords.createLink(link, ADA)
      await passwords.setByLink({ link_hash: 'l', password_hash: 'old', now_us: 6 }, FROM)
      const stored = { person_id: 'p', password_hash: 'old' }
      expect(await passwords.findPasswordByEmail('ada@acme.example')).toEqual(stored)
      const checked = { id: 'p', checked_hash: 'old', now_us: 7 }
      expect(await passwords.signInByPassword(checked, FROM)).toMatchObject({ signed_in_at_us: 7 })
      const changes = ['new', 'newer'].map((password_hash) =>
        passwords.changePassword({ ...checked, password_hash }, FROM),
      )
      expect((await Promise.all(changes)).toSorted()).toEqual([false, true])
      expect(await passwords.signInByPassword(checked, FROM)).toBeNull()
      const now = await passwords.findPassword('p')
      const { grants, name } = PERSON
      const removed = { id: 'p', name, grants, disabled_at_us: 8, sessions_from_us: 8 }
      await people.updatePerson(removed)
      const signIn = { id: 'p', checked_hash: now?.password_hash ?? '', now_us: 9 }
      expect(await passwords.signInByPassword(signIn, FROM)).toBeNull()
      await passwords.createLink({ ...link, now_us: 10 }, ADA)
      expect(await passwords.findPassword('p')).toBeNull()
      expect(await passwords.hasLink({ link_hash: 'l', now_us: 11 })).toBe(false)
    })
  })
}
