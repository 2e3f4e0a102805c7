/** Composes the grammar of an answer with tool calls from the grammars of the arguments. Pure. */

import { CALL_CLOSING, CALL_OPENING, writeCallHead } from '../text/call-form.ts'
import { spellText } from './patterns/pattern-grammar.ts'

/** The parts of the grammar of an answer with calls. */
interface CallGrammarParts {
  readonly tools: readonly {
    readonly name: string
    /** A grammar of the arguments, whose first rule is `root`. */
    readonly source: string
  }[]
  /** Whether the answer is calls and nothing else. */
  readonly isRequired: boolean
  /** Whether a call may follow another one. */
  readonly isParallel: boolean
  /** The grammar of an answer without calls, or null for any text. */
  readonly otherwise: string | null
}

/** Texts, characters in brackets, and names, as grammars have them. */
const PIECES = /"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|[A-Za-z_][\w.-]*/gu
const RULE = /^\s*([A-Za-z_][\w.-]*)\s*::=/gmu

/**
 * Returns the grammar. Free text continues until it opens a call; after a call only further calls may follow.
 *
 * @returns a grammar whose first rule is `root`
 */
export function renderCalls({
  tools,
  isRequired,
  isParallel,
  otherwise,
}: CallGrammarParts): string {
  const next = isParallel ? `"" | ${spellText(CALL_OPENING)} calls` : '""'
  const rules = [
    `calls ::= ${tools.map((_, place) => `call_${place}`).join(' | ')}`,
    `next ::= ${next}`,
    ...tools.flatMap(({ name, source }, place) => {
      const prefix = `tool_${place}_`
      const [head, end] = [spellText(writeCallHead(name)), spellText(`}${CALL_CLOSING}`)]
      return [`call_${place} ::= ${head} ${prefix}root ${end} next`, prefixNames(source, prefix)]
    }),
  ]
  const opened = `${spellText(CALL_OPENING)} calls`
  if (isRequired) return [`root ::= ${opened}`, ...rules].join('\n')
  if (otherwise === null) {
    const dispatch = `TagDispatch((${JSON.stringify(CALL_OPENING)}, calls), stop_eos=true, stop_str=(), loop_after_dispatch=false)`
    return [`root ::= ${dispatch}`, ...rules].join('\n')
  }
  const prefix = 'plain_'
  const own = prefixNames(otherwise, prefix)
  return [`root ::= called | ${prefix}root`, `called ::= ${opened}`, ...rules, own].join('\n')
}

/** The same grammar with longer names of its rules. */
function prefixNames(source: string, prefix: string): string {
  const names = new Set([...source.matchAll(RULE)].map(([, name]) => name))
  return source.replaceAll(PIECES, (piece) => (names.has(piece) ? prefix + piece : piece))
}
