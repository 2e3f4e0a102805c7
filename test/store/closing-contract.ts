/** How all stores close, whatever they store in. */
import { describe, expect, it } from 'vitest'
import type { Stores } from '../../src/store/api/stores.ts'

/** @param open - opens stores */
export function describeClosingContract(
  name: string,
  open: () => Promise<Pick<Stores, 'keys' | 'close'>>,
): void {
  describe(`${name} closes`, () => {
    it('once, however often it is asked', async () => {
      const stores = await open()
      expect(await stores.keys.listKeys()).toEqual([])
      await Promise.all([stores.close(), stores.close()])
      await stores.close()
    })
  })
}
