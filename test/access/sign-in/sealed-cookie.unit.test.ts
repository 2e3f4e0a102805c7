import type { FastifyReply, FastifyRequest } from 'fastify'
import { expect, it } from 'vitest'
import { openSealedCookie, seal } from '../../../src/http/sign-in/sealed-cookie.ts'

const KEY = new Uint8Array(32).fill(1)
const OTHER = new Uint8Array(32).fill(2)
const OPTIONS = { name: 'c', key: KEY, expiryS: 60, secure: true, sameSite: 'strict' } as const

async function read(text: string): Promise<unknown> {
  const request = { cookies: { c: text } } as unknown as FastifyRequest
  return (await openSealedCookie(request, OPTIONS)).get()
}

it('reads back a value that it sealed', async () => {
  expect(await read(await seal({ person: 'ada' }, KEY, 60))).toEqual({ person: 'ada' })
})

it.each([
  ['expired', () => seal({}, KEY, -1)],
  ['sealed with another key', () => seal({}, OTHER, 60)],
  ['changed', async () => `${(await seal({}, KEY, 60)).slice(0, -4)}AAAA`],
  ['no JWT', async () => 'x'],
  ['empty', async () => ''],
  ['unencrypted', async () => `${btoa('{"alg":"none"}')}.${btoa('{"of":{}}')}.`],
])('reads nothing of a cookie that is %s', async (_why, make) => {
  expect(await read(await make())).toBeUndefined()
})

it('writes a cookie only when it was set or deleted', async () => {
  const written: unknown[][] = []
  const reply = { setCookie: (...args: unknown[]) => written.push(args) } as unknown as FastifyReply
  const request = { cookies: { c: await seal('old', KEY, 60) } } as unknown as FastifyRequest
  const cookie = await openSealedCookie<string>(request, OPTIONS)
  await cookie.write(reply)
  expect(written).toEqual([])
  cookie.set('new')
  expect(cookie.get()).toBe('new')
  await cookie.write(reply)
  expect(written.at(-1)?.[2]).toMatchObject({ maxAge: 60, httpOnly: true, secure: true })
  expect(await read(String(written.at(-1)?.[1]))).toBe('new')
  cookie.delete()
  await cookie.write(reply)
  expect(written.at(-1)).toEqual(['c', '', expect.objectContaining({ expires: new Date(0) })])
})
