/** Parses stored contents so that every number is printed again exactly as its client sent it. Pure. */

type Reviver = (this: unknown, key: string, value: unknown, context: { source: string }) => unknown

/** Only texts with a fraction that ends in zero, an exponent or many digits hold such numbers. */
const ODD_NUMBER = /\.\d*0(?!\d)|\d[eE][+-]?\d|\d[\d.]{15}|-0/

const keepSource: Reviver = (_key, value, context) =>
  typeof value === 'number' && String(value) !== context.source
    ? JSON.rawJSON(context.source)
    : value

/**
 * Parses JSON; a number that JavaScript would write in another way comes back as a JSON.rawJSON object, so
 * that 1.0 stays 1.0 for clients that distinguish it from 1.
 *
 * @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  if (!ODD_NUMBER.test(text)) return JSON.parse(text)
  return JSON.parse(text, keepSource as (key: string, value: unknown) => unknown)
}
