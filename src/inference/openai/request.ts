/**
 * The body that goes upstream: the client's text with nothing changed but the model's name. It must
 * not be parsed and printed again, which would round 64-bit integers and reorder keys.
 */

const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const COMMA = 44
const BYTE_ORDER_MARK = 0xfeff
const SPACE = /[\s:]*/y

/**
 * The text of a request for the upstream.
 *
 * @param body - the text as received: a JSON object, already parsed once without fault
 * @param asked - the value of its `model`, null or undefined when it has none
 * @param model - the name that the upstream knows
 *
 * Spec: §4.3 (every field).
 * Choice: the received text is forwarded as it is, so that fields and digits that this server does not
 * know survive.
 */
export function renderUpstreamBody(
  body: string,
  asked: string | null | undefined,
  model: string,
): string {
  const json = body.charCodeAt(0) === BYTE_ORDER_MARK ? body.slice(1) : body
  return asked === model ? json : replaceMember(json, 'model', JSON.stringify(model))
}

/**
 * Sets a member of a JSON object in its text; all other characters stay. Of equal keys the last one
 * counts, as parsers read it. A missing member is put first.
 *
 * @param json - a valid object whose member, if there, is a string, number, true, false or null
 * @param value - JSON text
 */
export function replaceMember(json: string, name: string, value: string): string {
  const start = findMember(json, name)
  if (start === -1) {
    const open = json.indexOf('{') + 1
    const isEmpty = json.slice(open).trimStart().startsWith('}')
    return `${json.slice(0, open)}${JSON.stringify(name)}:${value}${isEmpty ? '' : ','}${json.slice(open)}`
  }
  return json.slice(0, start) + value + json.slice(endOfScalar(json, start))
}

/** Where the value of the last top-level member of that name starts, or -1. */
function findMember(json: string, name: string): number {
  let depth = 0
  let isKeyNext = false
  let found = -1
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfString(json, at)
      const isKey = depth === 1 && isKeyNext
      isKeyNext = false
      if (isKey && JSON.parse(json.slice(at, end)) === name) {
        SPACE.lastIndex = end
        found = end + (SPACE.exec(json)?.[0].length ?? 0)
      }
      at = end - 1
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1
      isKeyNext = true
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1
    } else if (code === COMMA) {
      isKeyNext = true
    }
  }
  return found
}

function endOfScalar(json: string, start: number): number {
  if (json.charCodeAt(start) === QUOTE) return endOfString(json, start)
  let end = start
  while (end < json.length && !/[\s,}]/.test(json.charAt(end))) end += 1
  return end
}

/** Index after the quote that closes the string opened at `start`. */
function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1)
  while (end !== -1) {
    let slashes = 0
    while (json.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return end + 1
    end = json.indexOf('"', end + 1)
  }
  return json.length
}
