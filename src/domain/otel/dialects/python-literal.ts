/** Converts dictionaries that Python printed to JSON. Pure. */

/** Texts, of which the last may be without an end, and the constants that JSON spells otherwise. */
const TOKEN = /'((?:[^'\\]|\\.)*)(?:'|$)|"((?:[^"\\]|\\.)*)(?:"|$)|\b(?:None|True|False)\b/gs
const ESCAPE = /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|(.))/gis
const CONSTANTS: Readonly<Record<string, string>> = { None: 'null', True: 'true', False: 'false' }
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

/** The JSON of a printed dictionary, list, text, number or constant; of anything else a text that is no JSON. */
export function pythonToJson(printed: string): string {
  return printed.replace(TOKEN, (token, single?: string, double?: string) => {
    const inner = single ?? double
    return inner === undefined ? (CONSTANTS[token] ?? token) : JSON.stringify(unescaped(inner))
  })
}

function unescaped(inner: string): string {
  return inner.replace(ESCAPE, (_, byte?: string, unit?: string, other?: string) =>
    other === undefined
      ? String.fromCharCode(Number.parseInt(byte ?? unit ?? '', 16))
      : (ESCAPED[other] ?? other),
  )
}
