/** What kind of step a call is, and its icon. Pure. */
import type { IconName } from '../parts/icon-names.ts'

interface CallKind {
  /** In one or two words. */
  readonly label: string
  readonly icon: IconName
}

const KINDS = {
  llm: { label: 'model', icon: 'sparkles' },
  embedding: { label: 'embedding', icon: 'hash' },
  reranker: { label: 'reranker', icon: 'list-filter' },
  retriever: { label: 'retrieval', icon: 'database' },
  tool: { label: 'tool', icon: 'wrench' },
  agent: { label: 'agent', icon: 'bot' },
  chain: { label: 'step', icon: 'workflow' },
  guardrail: { label: 'guardrail', icon: 'triangle-alert' },
  evaluator: { label: 'score', icon: 'gauge' },
  prompt: { label: 'prompt', icon: 'file-text' },
  other: { label: 'operation', icon: 'code' },
} as const satisfies Readonly<Record<string, CallKind>>

/** Parts of names of operations, in the order in which they are tried. */
const NAMES: readonly (readonly [RegExp, keyof typeof KINDS])[] = [
  [/embed/, 'embedding'],
  [/rerank/, 'reranker'],
  [/retriev|vector|search_doc|similarity/, 'retriever'],
  [
    /chat\.completions|completions?\.create|messages\.create|responses\.create|generate_?content|^chat\b|dogenerate|dostream/,
    'llm',
  ],
  [/evaluat|predict_and_score|score|judge/, 'evaluator'],
  [/guard|moderation/, 'guardrail'],
  [/agent/, 'agent'],
  [/tool|function_call/, 'tool'],
  [/chain|workflow|pipeline|graph/, 'chain'],
]

interface Step {
  /** Of its operation, without a version. */
  readonly name: string
  /** The attribute `kind`. */
  readonly recorded: string | undefined
  /** The report of usage, by model. */
  readonly usage: unknown
  readonly isLeaf: boolean
}

/** Returns the kind of a call: without a recorded one its name decides, and whether it reports usage. */
export function kindOfCall({ name, recorded, usage, isLeaf }: Step): CallKind {
  if (recorded !== undefined && Object.hasOwn(KINDS, recorded))
    return KINDS[recorded as keyof typeof KINDS]
  const found = NAMES.find(([pattern]) => pattern.test(name.toLowerCase()))
  if (found !== undefined) return KINDS[found[1]]
  const isCounted = typeof usage === 'object' && usage !== null && Object.keys(usage).length > 0
  return isCounted && isLeaf ? KINDS.llm : KINDS.other
}
