/** Reads a Dockerfile: the instructions that deploy/Dockerfile has, and no others. */

export interface Instruction {
  readonly name: string
  /** What follows the name, with continued lines joined. */
  readonly text: string
}

export interface Stage {
  /** Null without `AS`. */
  readonly name: string | null
  readonly steps: readonly Instruction[]
}

const KNOWN = 'WORKDIR COPY RUN ENV USER VOLUME EXPOSE HEALTHCHECK CMD'.split(' ')

/** @throws Error for an instruction that is not known here */
export function readDockerfile(text: string): { readonly base: string; readonly stages: Stage[] } {
  const lines = text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const stages: { name: string | null; steps: Instruction[] }[] = []
  let base = ''
  for (const line of lines) {
    const [, name = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    if (name === 'ARG') base = rest.replace('BASE=', '')
    else if (name === 'FROM') {
      const [, stage = null] = /^\$\{BASE\}(?: AS (\w+))?$/.exec(rest) ?? []
      stages.push({ name: stage, steps: [] })
    } else if (KNOWN.includes(name)) stages.at(-1)?.steps.push({ name, text: rest })
    else throw new Error(`deploy/Dockerfile has an instruction that this does not run: ${line}`)
  }
  return { base, stages }
}

/** The pairs of all `ENV` of a stage. */
export function readEnvironment({ steps }: Stage): Readonly<Record<string, string>> {
  const pairs = steps
    .filter(({ name }) => name === 'ENV')
    .flatMap(({ text }) => [...text.matchAll(/(\w+)=(\S+)/g)])
  return Object.fromEntries(pairs.map(([, key = '', value = '']) => [key, value]))
}

/** The command of the last instruction of a name that has one, in its form as JSON. */
export function readCommand({ steps }: Stage, name: 'CMD' | 'HEALTHCHECK'): string[] {
  const text = steps.findLast((step) => step.name === name)?.text ?? ''
  return JSON.parse(text.slice(text.indexOf('['))) as string[]
}
