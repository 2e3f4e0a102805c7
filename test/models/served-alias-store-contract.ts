/** What the store of names by which projects serve models promises in every database. */
import { describe, expect, it } from 'vitest'
import type { AliasSetting, ServedAliasStore } from '../../src/store/api/models/served-aliases.ts'

const NAMED = { project_id: 'acme/demo', name: 'helper' }

export function aliasOf(more: Partial<AliasSetting> = {}): AliasSetting {
  return {
    ...NAMED,
    target: 'owl:step1',
    candidate: null,
    candidate_percent: null,
    updated_at_us: 1,
    ...more,
  }
}

/** @param create - an empty store that closes itself when the test ends */
export function describeServedAliasContract(
  name: string,
  create: () => Promise<ServedAliasStore>,
): void {
  describe(`the store of served names: ${name}`, () => {
    it('keeps what a name serves, and goes back to what it served', async () => {
      const aliases = await create()
      await aliases.setAlias(aliasOf())
      const shared = { candidate: 'owl:step3', candidate_percent: 12.5 }
      await aliases.setAlias(aliasOf({ target: 'owl:step2', ...shared, updated_at_us: 2 }))
      expect(await aliases.findAlias(NAMED)).toEqual({
        ...aliasOf({ target: 'owl:step2', ...shared, updated_at_us: 2 }),
        earlier_json: '["owl:step1"]',
      })
      const back = { ...NAMED, updated_at_us: 3 }
      const earlier = { ...aliasOf({ updated_at_us: 3 }), earlier_json: '[]' }
      expect(await aliases.rollBackAlias(back)).toEqual(earlier)
      await expect(aliases.rollBackAlias(back)).rejects.toThrow(/no earlier target/)
      expect(await aliases.rollBackAlias({ ...back, name: 'other' })).toBeNull()
    })

    it('lists and deletes the names of one project', async () => {
      const aliases = await create()
      for (const one of ['b', 'a']) await aliases.setAlias(aliasOf({ name: one }))
      await aliases.setAlias(aliasOf({ project_id: 'acme/other', name: 'c' }))
      const names = async () => (await aliases.listAliases('acme/demo')).map((one) => one.name)
      expect(await names()).toEqual(['a', 'b'])
      expect(await aliases.deleteAlias({ ...NAMED, name: 'a' })).toBe(true)
      expect(await aliases.deleteAlias({ ...NAMED, name: 'c' })).toBe(false)
      expect(await names()).toEqual(['b'])
    })
  })
}
