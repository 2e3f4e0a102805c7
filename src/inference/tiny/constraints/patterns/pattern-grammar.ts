/**
 * Grammars of finite sets of texts: one rule per state, each choosing by one character. The engine would merge longer
 * alternatives that begin or end alike and then accept other texts; it cannot merge these.
 */

/** A text as the allowed characters at each position. */
export type Pattern = readonly string[]

/**
 * A grammar of the patterns.
 *
 * @param name - of its first rule; the names of all others begin with it
 * @param patterns - at least one
 */
export function renderPatterns(name: string, patterns: readonly Pattern[]): string {
  const rules: string[] = []
  const names = new Map<string, string>()
  const waiting: { readonly own: string; readonly rest: readonly Pattern[] }[] = []
  const nameOf = (rest: readonly Pattern[]): string => {
    const key = JSON.stringify(rest)
    const known = names.get(key)
    if (known !== undefined) return known
    const own = names.size === 0 ? name : `${name}_${names.size}`
    names.set(key, own)
    waiting.push({ own, rest })
    return own
  }
  nameOf(patterns)
  for (let state = waiting.pop(); state !== undefined; state = waiting.pop()) {
    rules.push(`${state.own} ::= ${renderState(state.rest, nameOf)}`)
  }
  return rules.join('\n')
}

/** What may come in a state, each character with the state behind it. */
function renderState(
  patterns: readonly Pattern[],
  nameOf: (rest: readonly Pattern[]) => string,
): string {
  const [only] = patterns
  const isFixed = patterns.length === 1 && only?.every((one) => one.length === 1)
  if (isFixed) return quoteText(only?.join('') ?? '')
  const restOf = new Map<string, Pattern[]>()
  for (const [first = '', ...rest] of patterns) {
    for (const character of first) restOf.set(character, [...(restOf.get(character) ?? []), rest])
  }
  const behind = new Map<string, string>()
  const choices: string[] = []
  for (const [character, rest] of restOf) {
    const next = rest.some((pattern) => pattern.length > 0) ? ` ${nameOf(rest)}` : ''
    // Why: inside brackets the engine takes only the last byte of a longer escape.
    if (character > '\u007f') choices.push(`"${spell(character)}"${next}`)
    else behind.set(next, (behind.get(next) ?? '') + spell(character))
  }
  for (const [next, characters] of behind) choices.push(`[${characters}]${next}`)
  // A text that ends here may be the prefix of another one.
  if (patterns.some((pattern) => pattern.length === 0)) choices.push('""')
  return choices.join(' | ')
}

/** A text as grammars spell it, in quotes. */
export function quoteText(text: string): string {
  return `"${Array.from(text, spell).join('')}"`
}

/** A character as grammars spell it, inside quotes and of brackets. */
function spell(character: string): string {
  if (/^[A-Za-z0-9 ]$/.test(character)) return character
  return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`
}
