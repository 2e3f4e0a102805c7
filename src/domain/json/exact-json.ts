/** Parses stored contents so that every number is printed again exactly as its client sent it. Pure. */
import { readJson } from './json-reader.ts'

/** Matches texts that can hold such numbers, which have a fraction ending in zero, an exponent or many digits. */
const ODD_NUMBER = /\.\d*0(?!\d)|\d[eE][+-]?\d|\d[\d.]{15}|-0/

/**
 * Parses JSON; a number that JavaScript would write in another way comes back as a JSON.rawJSON object, so
 * that 1.0 stays 1.0 for clients that distinguish it from 1.
 *
 * @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text)
  return ODD_NUMBER.test(text) ? readJson(text, toNumberAsSent) : value
}

function toNumberAsSent(source: string): unknown {
  const value = Number(source)
  return String(value) === source ? value : JSON.rawJSON(source)
}
