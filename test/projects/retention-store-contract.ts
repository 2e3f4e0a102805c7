/** What every RetentionStore must do, whatever it stores in. */
import { describe, expect, it } from 'vitest'
import {
  RETENTIONS_LISTED_MAX,
  type RetentionStore,
} from '../../src/store/api/projects/projects.ts'

const project_id = 'acme/demo'

/** @param create - an empty store that closes itself when the test ends */
export function describeRetentionStoreContract(
  name: string,
  create: () => Promise<RetentionStore>,
): void {
  describe(`${name} keeps the RetentionStore contract`, () => {
    it('finds the last setting of a project, and distinguishes it from none', async () => {
      const store = await create()
      expect(await store.findRetention(project_id)).toBeNull()
      for (const retention_days of [30, null, 36_500]) {
        await store.setRetention({ project_id, retention_days })
        expect(await store.findRetention(project_id)).toEqual({ project_id, retention_days })
      }
      expect(await store.findRetention('acme/other')).toBeNull()
    })

    it('answers a change when the steps by the earlier setting have ended, and no others', async () => {
      const store = await create()
      await store.setRetention({ project_id, retention_days: 30 })
      const holds = [await store.pinRetention(project_id), await store.pinRetention(project_id)]
      const elsewhere = await store.pinRetention('acme/other')
      expect(elsewhere?.retention).toBeNull()
      const order: string[] = []
      const changed = store
        .setRetention({ project_id, retention_days: null })
        .then(() => order.push('changed'))
      await expect
        .poll(() => store.findRetention(project_id))
        .toEqual({ project_id, retention_days: null })
      for (const hold of holds) {
        expect(hold?.retention).toEqual({ project_id, retention_days: 30 })
        order.push('step')
        await hold?.end()
      }
      await changed
      expect(order).toEqual(['step', 'step', 'changed'])
      const next = await store.pinRetention(project_id)
      expect(next?.retention).toEqual({ project_id, retention_days: null })
      await Promise.all([next?.end(), elsewhere?.end()])
    })

    it('lists settings in the order of the bytes of their projects, part by part', async () => {
      const store = await create()
      const names = Array.from({ length: RETENTIONS_LISTED_MAX - 1 }, (_, at) => `acme/${at}`)
      const ordered = ['Zeta/b', ...names.toSorted(), 'zeta/ü']
      for (const name of ordered.toReversed()) {
        await store.setRetention({ project_id: name, retention_days: name === 'Zeta/b' ? null : 1 })
      }
      const first = await store.listRetentions('')
      expect(first.map((one) => one.project_id)).toEqual(ordered.slice(0, -1))
      expect(first[0]).toEqual({ project_id: 'Zeta/b', retention_days: null })
      const rest = await store.listRetentions(first.at(-1)?.project_id ?? '')
      expect(rest).toEqual([{ project_id: 'zeta/ü', retention_days: 1 }])
      expect(await store.listRetentions('zeta/ü')).toEqual([])
    })
  })
}
