/** A strict parser of the text format of Prometheus: whatever it does not know is thrown. */

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

interface ParsedMetric {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly samples: Sample[]
}

const HELP = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (\S.*)$/
const TYPE = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram|summary)$/
const SAMPLE =
  /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?[0-9.]+(?:e[+-]?[0-9]+)?|Na[nN]|[+-]Inf)$/
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y

export function parseMetrics(text: string): Map<string, ParsedMetric> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  const metrics = new Map<string, ParsedMetric>()
  const seen = new Set<string>()
  let current: ParsedMetric | null = null
  const lines = text.split('\n').filter((line) => line !== '')
  for (const [at, line] of lines.entries()) {
    const [, name, help] = HELP.exec(line) ?? []
    if (name !== undefined && help !== undefined) {
      const [, typed, type] = TYPE.exec(lines[at + 1] ?? '') ?? []
      if (typed !== name || type === undefined) throw new Error(`${name} has no type`)
      if (metrics.has(name)) throw new Error(`${name} is told twice`)
      current = { name, help, type, samples: [] }
      metrics.set(name, current)
    } else if (!TYPE.test(line)) {
      if (current === null) throw new Error(`no metric before ${line}`)
      if (seen.has(line.slice(0, line.lastIndexOf(' ')))) throw new Error(`${line} is told twice`)
      seen.add(line.slice(0, line.lastIndexOf(' ')))
      current.samples.push(parseSample(line, current))
    }
  }
  return metrics
}

function parseSample(line: string, metric: ParsedMetric): Sample {
  const [, name, labels = '', value] = SAMPLE.exec(line) ?? []
  if (name === undefined || value === undefined) throw new Error(`no sample: ${line}`)
  const suffixes = metric.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
  if (!suffixes.some((suffix) => name === metric.name + suffix)) {
    throw new Error(`${name} stands below ${metric.name}`)
  }
  return {
    name,
    labels: parseLabels(labels),
    value: Number(value.replace('Inf', 'Infinity').replace('Nan', 'NaN')),
  }
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  for (let at = 0; at < text.length; at = LABEL.lastIndex) {
    LABEL.lastIndex = at
    const [, name, value] = LABEL.exec(text) ?? []
    if (name === undefined || value === undefined) throw new Error(`no labels: ${text}`)
    labels[name] = value.replace(/\\(.)/g, (_all, char) => (char === 'n' ? '\n' : char))
  }
  return labels
}
