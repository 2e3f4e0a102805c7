/** What a store of export tickets must do, whichever database has them. */
import { describe, expect, it } from 'vitest'
import type { ExportTicketStore } from '../../src/store/api/calls/export-tickets.ts'

const ticketOf = (token_hash: string, key_id = 'k', expires_at_us = 60) => ({
  token_hash,
  key_id,
  ticket_json: `"${token_hash}"`,
  expires_at_us,
})

/** @param create - an empty store that closes itself when the test ends */
export function describeExportTicketContract(
  name: string,
  create: () => Promise<ExportTicketStore>,
): void {
  describe(`${name} keeps the ExportTicketStore contract`, () => {
    it('redeems a ticket once, and only before it expires', async () => {
      const store = await create()
      for (const hash of ['a', 'b']) await store.issueTicket(ticketOf(hash), 0)
      expect(await store.redeemTicket('c', 0)).toBeNull()
      expect(await store.redeemTicket('a', 59)).toEqual(ticketOf('a'))
      expect(await store.redeemTicket('a', 59)).toBeNull()
      expect(await store.redeemTicket('b', 60)).toBeNull()
    })

    it('finds a ticket any number of times until it expires or is redeemed', async () => {
      const store = await create()
      await store.issueTicket(ticketOf('a'), 0)
      for (const now of [0, 59]) expect(await store.findTicket('a', now)).toEqual(ticketOf('a'))
      expect(await store.findTicket('a', 60)).toBeNull()
      expect(await store.findTicket('b', 0)).toBeNull()
      await store.redeemTicket('a', 0)
      expect(await store.findTicket('a', 0)).toBeNull()
    })

    it('counts tickets of media apart, of which a key may have more', async () => {
      const store = await create()
      await store.issueTicket(ticketOf('export'), 0)
      for (let at = 0; at < 210; at++) await store.issueTicket(ticketOf(`${at}`, 'media:k'), 0)
      expect(await store.findTicket('0', 0)).not.toBeNull()
      await store.issueTicket(ticketOf('another', 'k2'), 0)
      expect(await store.findTicket('export', 0)).not.toBeNull()
    })

    it('removes tickets that have expired', async () => {
      const store = await create()
      await store.issueTicket(ticketOf('a', 'k', 60), 0)
      await store.issueTicket(ticketOf('b', 'k', 61), 0)
      await store.expireTickets(60)
      // A time before its expiry: only a removed ticket cannot be redeemed.
      expect(await store.redeemTicket('a', 0)).toBeNull()
      expect(await store.redeemTicket('b', 0)).toEqual(ticketOf('b', 'k', 61))
    })

    it('keeps ten tickets of a key, removing the oldest, and 200 of all keys', async () => {
      const store = await create()
      for (let at = 0; at < 11; at++) await store.issueTicket(ticketOf(`${at}`, 'k', 60 + at), 0)
      expect(await store.redeemTicket('0', 0)).toBeNull()
      for (let at = 0; at < 190; at++) await store.issueTicket(ticketOf(`of ${at}`, `k${at}`), 0)
      const more = ticketOf('more', 'another key')
      await expect(store.issueTicket(more, 0)).rejects.toMatchObject({ code: 'server_overloaded' })
      expect(await store.redeemTicket('more', 0)).toBeNull()
      await store.issueTicket(ticketOf('own', 'k', 71), 0)
      expect(await store.redeemTicket('1', 0)).toBeNull()
      expect(await store.redeemTicket('2', 0)).not.toBeNull()
      await store.issueTicket(more, 60)
      expect(await store.redeemTicket('more', 59)).not.toBeNull()
    })
  })
}
