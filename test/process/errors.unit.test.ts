import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ApiError, ERRORS, type ErrorCode, toErrorBody } from '../../src/errors.ts'

const SOURCES = globSync('src/**/*.ts')
  .filter((path) => !path.endsWith('src/errors.ts'))
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n')

describe('the error table', () => {
  it.each(Object.entries(ERRORS))('%s has a status, a type and a sentence', (code, entry) => {
    expect(code).toMatch(/^[a-z]+(?:_[a-z]+)*$/)
    expect(entry.status).toBeGreaterThanOrEqual(400)
    expect(entry.type).toMatch(/^[a-z_]+$/)
    expect(entry.text).toMatch(/^[A-Z].*\.$/)
  })

  it('has no code that is never thrown', () => {
    const unused = Object.keys(ERRORS).filter((code) => !SOURCES.includes(`'${code}'`))
    expect(unused).toEqual([])
  })
})

describe('toErrorBody', () => {
  it('shows message, type, param and code, and nothing of the cause', () => {
    const code: ErrorCode = 'call_not_found'
    const error = new ApiError(code, { param: 'id', cause: new Error('secret') })
    expect(toErrorBody(error)).toEqual({
      error: { message: ERRORS[code].text, type: 'not_found_error', param: 'id', code },
    })
  })
})
