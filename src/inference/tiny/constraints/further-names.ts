/**
 * Names of additional properties of a schema. The engine would accept any name there, including a declared one, whose
 * value would then not be checked by its own schema. Pure.
 */
import { spellText } from './patterns/pattern-grammar.ts'

interface NameState {
  readonly next: Map<string, NameState>
  isName: boolean
}

const REST = 'further_rest'
/** What follows once a name cannot become a named one any more, escapes included. */
const REST_RULE = `${REST} ::= "\\"" | [^\\0-\\x1f"\\\\] ${REST} | "\\\\" basic_escape ${REST}`
/** Printable ASCII but the quote and the backslash. */
const PLAIN = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).filter(
  (character) => character !== '"' && character !== '\\',
)

/**
 * The grammar of a schema with its marked places mended: each further name is none of the named ones.
 *
 * @param source - as the engine wrote it
 * @param taken - mark of the place to the names of that object
 * @param between - what the engine writes between a name and its value
 *
 * Spec: §4.3 structured_outputs json.
 * Choice: such a name begins to differ by a plain ASCII character, never by an escape, which could spell a name.
 */
export function excludeNames(
  source: string,
  taken: ReadonlyMap<string, readonly string[]>,
  between: string,
): string {
  if (taken.size === 0) return source
  let text = source
  const colon = between.replaceAll(/[[\]*\\]/g, '\\$&')
  const rules: string[] = [REST_RULE]
  for (const [place, [mark, names]] of [...taken].entries()) {
    const marked = new RegExp(`^(\\w+)_case_0 ::= "\\\\"${mark}\\\\""$`, 'm').exec(text)
    // An object that nothing refers to has no rule.
    if (marked === null) continue
    const [, value = ''] = marked
    const name = `further_${place}`
    text = text
      .replace(`${value} ::= ${value}_case_0 | `, `${value} ::= `)
      .replaceAll(new RegExp(`basic_string(${colon}${value})(?!\\w)`, 'g'), `${name}$1`)
    rules.push(...renderNames(name, names))
  }
  return `${text}\n${rules.join('\n')}\n`
}

/** Rules of all names but these, with their quotes. */
function renderNames(rule: string, names: readonly string[]): string[] {
  const root: NameState = { next: new Map(), isName: false }
  for (const name of names) {
    let state = root
    for (const character of name) {
      const next = state.next.get(character) ?? { next: new Map(), isName: false }
      state.next.set(character, next)
      state = next
    }
    state.isName = true
  }
  const rules: string[] = []
  const waiting = [{ own: `${rule}_0`, state: root }]
  let count = 1
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const { own, state } = at
    const choices = state.isName ? [] : ['"\\""']
    for (const [character, next] of state.next) {
      const behind = `${rule}_${count++}`
      waiting.push({ own: behind, state: next })
      choices.push(`${spellText(character)} ${behind}`)
    }
    const others = PLAIN.filter((character) => !state.next.has(character))
    choices.push(`[${others.map(spellInBrackets).join('')}] ${REST}`)
    rules.push(`${own} ::= ${choices.join(' | ')}`)
  }
  return [`${rule} ::= "\\"" ${rule}_0`, ...rules]
}

function spellInBrackets(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16)}`
}
