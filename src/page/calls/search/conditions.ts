/** Conditions in the query language, on calls, spans and feedback. Pure. */

export const field = (name: string) => ({ $getField: name })
export const literal = (value: unknown) => ({ $literal: value })
const text = (name: string) => ({ $convert: { input: field(name), to: 'string' } })
export const contains = (name: string, part: string) => ({
  $contains: { input: text(name), substr: literal(part), case_insensitive: true },
})
export const isThere = (name: string) => ({ $not: [{ $eq: [field(name), literal(null)] }] })
/** Holds for the calls that are turns of a thread. */
export const isTurn = { $eq: [field('id'), field('turn_id')] }

/** Returns a text as escaped inside JSON. */
export function escapedInJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
