/**
 * Rewrites a grammar so that the engine enforces it exactly. The engine merges alternatives that begin or end alike,
 * even across rules, and then accepts texts that the grammar does not allow.
 */

/** An element as the engine prints it: a text, characters with or without a star, or a rule's name. */
const ELEMENT = /(?:"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]\*?|[A-Za-z_][\w.-]*)/u
const ELEMENTS = new RegExp(ELEMENT, 'gu')
const SEQUENCE = `(?:""|\\(${ELEMENT.source}(?: ${ELEMENT.source})*\\))`
const SEQUENCES = new RegExp(SEQUENCE, 'gu')
/** A rule of alternatives. Other rules, such as lookaheads, are left unchanged. */
const RULE = new RegExp(`^(\\S+) ::= \\((${SEQUENCE}(?: \\| ${SEQUENCE})*)\\)$`, 'u')
/** The first character of a text as the engine spells it, and what follows. */
const FIRST = /^"(\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\U[0-9a-f]{8}|\\[^xuU]|[^\\])(.+)"$/u
const NAME = /^[A-Za-z_]/
/** Characters beyond ASCII as the engine spells them. */
const WIDE = /\\(?:x[89a-f]|u|U)/u

/** Repeated characters with the same ones behind them. */
const REPEATED = /(\[(?:\\.|[^\]\\])*\])\* \1/u

/** Whether the engine would join repeated characters with those behind them: `[ab]* [ab] "c"` would accept `c`. */
export function joinsRepeats(printed: string): boolean {
  return REPEATED.test(printed)
}

/** Whether brackets contain characters beyond ASCII, of which the engine matches only one byte. */
export function hasWideBrackets(printed: string): boolean {
  return (printed.match(ELEMENTS) ?? []).some(
    (element) => element.startsWith('[') && WIDE.test(element),
  )
}

/**
 * The same grammar with one symbol per alternative. What has several elements becomes a chain of rules of
 * two, the second one a rule itself: into these the engine does not look when it joins.
 *
 * @param printed - a grammar as the engine prints it, one rule per line
 */
export function separateAlternatives(printed: string): string {
  const lines = printed.split('\n')
  const taken = new Set(lines.map((line) => line.split(' ', 1)[0] ?? ''))
  const rules: string[] = []
  let last = 0
  const nameNext = (): string => {
    const name = `part_${last++}`
    return taken.has(name) ? nameNext() : name
  }
  const chain = (elements: readonly string[]): string => {
    const name = nameNext()
    const [first = '""', ...rest] = elements
    rules.push(`${name} ::= ${first} ${toTail(rest)}`)
    return name
  }
  const toTail = (elements: readonly string[]): string => {
    const [first = '""'] = elements
    if (elements.length > 1) return chain(elements)
    if (NAME.test(first)) return first
    const name = nameNext()
    rules.push(`${name} ::= ${first}`)
    return name
  }
  const toSymbol = (elements: readonly string[]): string => {
    const [first = '""'] = elements
    return elements.length > 1 || first.endsWith('*') ? chain(elements) : first
  }
  for (const line of lines) {
    const [, name, body = ''] = RULE.exec(line) ?? []
    const sequences = body.match(SEQUENCES) ?? []
    const symbols = sequences.map((sequence) => toSymbol(split(sequence)))
    rules.push(name === undefined ? line : `${name} ::= ${symbols.join(' | ')}`)
  }
  return rules.join('\n')
}

/** The elements of a sequence; the first character of a text at its beginning stands alone. */
function split(sequence: string): string[] {
  if (sequence === '""') return []
  const elements = sequence.match(ELEMENTS) ?? []
  const [, first, rest] = FIRST.exec(elements[0] ?? '') ?? []
  return first === undefined ? elements : [`"${first}"`, `"${rest}"`, ...elements.slice(1)]
}
