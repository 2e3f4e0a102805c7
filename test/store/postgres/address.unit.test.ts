import { describe, expect, it } from 'vitest'
import { connectPostgres, createOwnConnection } from '../../../src/store/postgres/db/client.ts'
import { migrate } from '../../../src/store/postgres/db/migrate.ts'

const ADDRESS = 'postgres://me:secret@127.0.0.1:1/weft'

describe('the address of PostgreSQL', () => {
  it.each([
    ['ssl_mode=verify-full', '"ssl_mode" is not one of'],
    ['sslMode=verify-full', '"sslMode" is not one of'],
    ['sslmode=', '"sslmode" has no value'],
    ['sslmode=verify-full&a%0Ab', '"a\\nb" is not one of'],
  ])(
    'a PostgreSQL address with ?%s is refused in one line that names it and the parameter',
    async (query, told) => {
      const url = `${ADDRESS}?${query}`
      const refusal = expect.objectContaining({
        name: 'MigrationError',
        message: expect.stringMatching(/^WEFT_META_URL: (?!.*secret)[^\n]+$/),
      })
      await expect(migrate(url)).rejects.toThrow(refusal)
      await expect(migrate(url)).rejects.toThrow(told)
      expect(() => connectPostgres({ url, readTimeoutMs: 1000 })).toThrow(refusal)
    },
  )

  it('a PostgreSQL address is not repeated when its password has a question mark', () => {
    const connect = () => createOwnConnection('postgres://me:12?secret@127.0.0.1:1/weft')
    expect(connect).toThrow(/^WEFT_META_URL: its parameters are not valid$/)
  })

  it('a PostgreSQL address may have the parameters of the driver', () => {
    const client = createOwnConnection(`${ADDRESS}?sslmode=verify-full&application_name=a`)
    expect(client.ssl).toBeTruthy()
  })
})
