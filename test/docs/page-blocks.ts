/** The fenced blocks of a documentation page, and what its `sh` blocks say that their commands answer. */

export interface Block {
  /** Line of the fence in the page. */
  readonly line: number
  readonly language: string
  readonly text: string
  /** Text of the HTML comment right above the fence, or null. */
  readonly note: string | null
}

/** Commands, and the answer that stands as comments below them, or null. */
interface Step {
  readonly commands: string
  readonly answer: string | null
}

const FENCE = /(?:^<!-- (.*?) -->\n)?^```(\w+)\n([\s\S]*?)^```$/gm

export function findBlocks(page: string): Block[] {
  return Array.from(page.matchAll(FENCE), (match) => ({
    line: page.slice(0, match.index).split('\n').length,
    language: match[2] ?? '',
    text: match[3] ?? '',
    note: match[1] ?? null,
  }))
}

/** Splits a shell block behind each answer: comment lines of which the first begins with `# {`. */
export function splitSteps(text: string): Step[] {
  const steps: Step[] = []
  let commands: string[] = []
  let answer: string[] | null = null
  const end = () => {
    if (commands.length > 0)
      steps.push({ commands: commands.join('\n'), answer: answer?.join('\n') ?? null })
    commands = []
    answer = null
  }
  for (const line of text.split('\n')) {
    if (/^# \{/.test(line)) answer = [line.slice(2)]
    else if (answer !== null && /^# /.test(line)) (answer as string[]).push(line.slice(2))
    else {
      if (answer !== null) end()
      commands.push(line)
    }
  }
  end()
  return steps
}

/**
 * A documented answer as JSON. `...` stands for what was left out: in an object for further members, in a list for
 * any items.
 */
export function parseAnswer(text: string): unknown {
  const whole = text.replaceAll('[...]', '["..."]').replace(/,\s*\.\.\.\}/g, ',"...":0}')
  return JSON.parse(whole)
}

/** Members whose values differ each time. */
const MASKED =
  /^(?:id|.*_id|created|.*_at|sha256|lease_token|loss|grad_norm|num_sequences|url|bytes|calls|reward|content)$/
/** Members whose values are times of the run. */
const TIMES = /^(?:start|end|timestamp)$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/
/** Values that must match exactly nevertheless. */
const EXACT_TEXTS = new Set(['3 plus 4 is 7.', 'call-1'])

/** Paths where a real answer differs from the documented one; empty if it is correct. */
export function differences(told: unknown, real: unknown, path = ''): string[] {
  if (told === '...') return []
  if (Array.isArray(told)) {
    if (!Array.isArray(real)) return [`${path} is no list`]
    if (told[0] === '...') return []
    return told.flatMap((item, at) => differences(item, real[at], `${path}[${at}]`))
  }
  if (typeof told === 'object' && told !== null) {
    if (typeof real !== 'object' || real === null) return [`${path} is no object`]
    return compareMembers(told as Members, real as Members, path)
  }
  if (told === real) return []
  const name =
    path
      .split('.')
      .at(-1)
      ?.replace(/\[\d+\]$/, '') ?? ''
  if (TIMES.test(name) && TIME.test(String(told)) && TIME.test(String(real))) return []
  const isMasked = MASKED.test(name) && !EXACT_TEXTS.has(String(told))
  if (isMasked && (typeof told === typeof real || told === null || real === null)) return []
  return [`${path} is ${JSON.stringify(real)}, not ${JSON.stringify(told)}`]
}

type Members = Readonly<Record<string, unknown>>

function compareMembers(told: Members, real: Members, path: string): string[] {
  const missing = Object.keys(told).filter((name) => name !== '...' && !(name in real))
  const untold = '...' in told ? [] : Object.keys(real).filter((name) => !(name in told))
  return [
    ...missing.map((name) => `${path}.${name} is missing`),
    ...untold.map((name) => `${path}.${name} is not told`),
    ...Object.keys(told)
      .filter((name) => name in real)
      .flatMap((name) => differences(told[name], real[name], `${path}.${name}`)),
  ]
}
