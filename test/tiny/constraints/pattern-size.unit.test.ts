/** How large patterns get when the grammar engine writes their repeated groups out. */
import { describe, expect, it } from 'vitest'
import { planConstraint } from '../../../src/inference/tiny/constraints/constraint-plan.ts'
import { countPlaces } from '../../../src/inference/tiny/constraints/patterns/pattern-size.ts'

const planOf = (structured_outputs: Record<string, unknown>) => () =>
  planConstraint({ messages: [], structured_outputs })

describe('the size of a pattern', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['a|bc', 3],
    ['[a-z]{4000}', 1],
    ['([a-z]{4000})', 1],
    ['([a-z]{40}){3}', 120],
    ['([a-z]{40}x){2,3}', 123],
    ['(ab){2,}', 6],
    ['(ab)*(cd)+(ef)?', 6],
    ['(?:(x{0,30}y){0,30}z){0,30}', 30 * (30 * 31 + 1)],
    ['\\({3}[()]{5}', 2],
    ['((a{9}){9}', 81],
  ])('of %s is %i', (pattern, places) => {
    expect(countPlaces(pattern)).toBe(places)
  })

  it('refuses a pattern of a quarter of a million places by name before anything runs', () => {
    const bomb = '([a-z]{500}){500}'
    const refusal = (param: string) => expect.objectContaining({ code: 'invalid_value', param })
    expect(planOf({ regex: bomb })).toThrow(refusal('structured_outputs.regex'))
    const schema = { type: 'string', pattern: bomb }
    expect(planOf({ json: JSON.stringify(schema) })).toThrow(refusal('structured_outputs.json'))
    expect(planOf({ regex: '([a-z]{50}){50}' })).not.toThrow()
  })
})
