import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ERRORS } from '../../src/errors.ts'

it('error codes are listed in docs/http.md with their statuses and texts, and no others', () => {
  const page = readFileSync('docs/http.md', 'utf8')
  const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (\d{3}) \| (.+) \|$/gm)]
  expect(rows.map(([, code, status, text]) => [code, Number(status), text])).toEqual(
    Object.entries(ERRORS).map(([code, { status, text }]) => [code, status, text]),
  )
})
