/** Composes the grammar of an answer with tool calls from the grammars of the arguments. Pure. */

import { CALL_CLOSING, CALL_OPENING, writeCallHead } from '../text/tool-call-text.ts'
import { quoteText } from './patterns/pattern-grammar.ts'

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
/** What names of rules begin with that are the same in the grammars of several schemas. */
export const SHARED_RULES = 'shared_'
const SHARED = new RegExp(`^(?:${SHARED_RULES}|basic_)`, 'u')

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
  const shared = listShared(tools.map(({ source }) => source))
  const next = isParallel ? `"" | ${quoteText(CALL_OPENING)} calls` : '""'
  const rules = [
    `calls ::= ${tools.map((_, place) => `call_${place}`).join(' | ')}`,
    `next ::= ${next}`,
    ...tools.flatMap(({ name, source }, place) => {
      const prefix = `tool_${place}_`
      const [head, end] = [quoteText(writeCallHead(name)), quoteText(`}${CALL_CLOSING}`)]
      const own = prefixNames(source, prefix, shared)
      return [`call_${place} ::= ${head} ${prefix}root ${end} next`, own]
    }),
    ...shared.values(),
  ]
  const opened = `${quoteText(CALL_OPENING)} calls`
  if (isRequired) return [`root ::= ${opened}`, ...rules].join('\n')
  if (otherwise === null) {
    const dispatch = `TagDispatch((${JSON.stringify(CALL_OPENING)}, calls), stop_eos=true, stop_str=(), loop_after_dispatch=false)`
    return [`root ::= ${dispatch}`, ...rules].join('\n')
  }
  const prefix = 'plain_'
  const own = prefixNames(otherwise, prefix, new Map())
  return [`root ::= called | ${prefix}root`, `called ::= ${opened}`, ...rules, own].join('\n')
}

/** The rules that all grammars with them have in the same words, by name: written once, they are compiled once. */
function listShared(sources: readonly string[]): Map<string, string> {
  const shared = new Map<string, string>()
  const differing = new Set<string>()
  for (const line of sources.flatMap((source) => source.split('\n'))) {
    const [name = ''] = line.split(' ', 1)
    if (!SHARED.test(name)) continue
    if ((shared.get(name) ?? line) !== line) differing.add(name)
    shared.set(name, line)
  }
  // A rule may refer to a differing one.
  return differing.size === 0 ? shared : new Map()
}

/** The same grammar without shared rules, and with longer names of all others. */
function prefixNames(source: string, prefix: string, shared: ReadonlyMap<string, string>): string {
  const lines = source.split('\n').filter((line) => !shared.has(line.split(' ', 1)[0] ?? ''))
  const own = lines.join('\n')
  const names = new Set([...own.matchAll(RULE)].map(([, name]) => name))
  return own.replaceAll(PIECES, (piece) => (names.has(piece) ? prefix + piece : piece))
}
