/** A dataset in two versions and runs of an evaluation over it, as the Python SDK records them. */
import type { Chance } from './chance.ts'
import type { DemoApi, DemoCall } from './demo-api.ts'
import { type CustomerRequest, REQUESTS, SYSTEM } from './shop.ts'

const DAY_MS = 86_400_000
const OBJECT = ['Object', 'BaseModel']
/** Rows that the first version of the dataset lacks. */
const ADDED_ROWS = 4

interface Contestant {
  readonly name: string
  readonly llm: string
  /** Part of the intents that it finds. */
  readonly skill: number
  readonly usualMs: number
  /** Days ago of its run. */
  readonly daysAgo: number
  readonly prompt: string
}

const CONTESTANTS: readonly Contestant[] = [
  {
    name: 'SupportSmall',
    llm: 'gpt-4o-mini',
    skill: 0.66,
    usualMs: 700,
    daysAgo: 9,
    prompt: SYSTEM,
  },
  {
    name: 'SupportLarge',
    llm: 'claude-sonnet-4-5',
    skill: 0.93,
    usualMs: 1500,
    daysAgo: 4,
    prompt: SYSTEM,
  },
  {
    name: 'SupportSmall',
    llm: 'gpt-4.1-mini',
    skill: 0.84,
    usualMs: 650,
    daysAgo: 1,
    prompt: `${SYSTEM} Name the intent first.`,
  },
]

interface Row {
  readonly digest: string
  readonly question: CustomerRequest
}

interface Setup {
  readonly evaluation: string
  readonly dataset: string
  readonly rows: readonly Row[]
  readonly ops: Readonly<Record<'evaluate' | 'predictAndScore' | 'summarize' | 'predict', string>>
  readonly scorers: readonly [intent: string, helpfulness: string]
}

/** @returns ids of the runs' root calls, the oldest first */
export async function recordEvaluations(
  api: DemoApi,
  chance: Chance,
  nowMs: number,
): Promise<string[]> {
  const setup = await publishSetup(api)
  await publishPrompts(api)
  const calls: { call: DemoCall }[] = []
  for (const contestant of CONTESTANTS) {
    const { name, llm, prompt } = contestant
    const model = await api.publish(name, {
      _type: name,
      _class_name: name,
      _bases: ['Model', ...OBJECT],
      name,
      description: null,
      llm,
      prompt,
      temperature: 0.2,
      predict: setup.ops.predict,
    })
    const startMs = nowMs - contestant.daysAgo * DAY_MS
    calls.push({ call: makeRun(setup, chance, { contestant, model, startMs }) })
  }
  return api.record(calls)
}

async function publishSetup(api: DemoApi): Promise<Setup> {
  const code = (name: string) => `@weave.op\ndef ${name}(**inputs):\n    ...\n`
  const op = (name: string) => api.publishOp(name, code(name.replace('.', '_')))
  const intent = await api.publishOp(
    'intent_match',
    `@weave.op\ndef intent_match(intent: str, output: dict) -> dict:\n    return {"correct": output["intent"] == intent}\n`,
  )
  const helpfulness = await op('helpfulness')
  await publishDataset(api, REQUESTS.slice(0, -ADDED_ROWS))
  const { ref: dataset, rows } = await publishDataset(api, REQUESTS)
  const ops = {
    evaluate: await op('Evaluation.evaluate'),
    predictAndScore: await op('Evaluation.predict_and_score'),
    summarize: await op('Evaluation.summarize'),
    predict: await op('SupportModel.predict'),
  }
  const evaluation = await api.publish('support-eval', {
    _type: 'Evaluation',
    _class_name: 'Evaluation',
    _bases: OBJECT,
    name: 'support-eval',
    description: 'Intent and tone of answers to customers.',
    dataset,
    scorers: [intent, helpfulness],
    preprocess_model_input: null,
    trials: 1,
    evaluation_name: null,
    metadata: null,
    evaluate: ops.evaluate,
    predict_and_score: ops.predictAndScore,
    summarize: ops.summarize,
  })
  return { evaluation, dataset, rows, ops, scorers: [intent, helpfulness] }
}

async function publishDataset(api: DemoApi, questions: readonly CustomerRequest[]) {
  const rows = questions.map(({ text, intent, answer }) => ({ question: text, intent, answer }))
  const table = await api.publishTable(rows)
  const ref = await api.publish('support-questions', {
    _type: 'Dataset',
    _class_name: 'Dataset',
    _bases: OBJECT,
    name: 'support-questions',
    description: 'Questions of customers.',
    rows: table.ref,
  })
  const digests = questions.map((question, at) => {
    return { digest: table.rowDigests[at] ?? '', question }
  })
  return { ref, rows: digests }
}

async function publishPrompts(api: DemoApi): Promise<void> {
  for (const content of [SYSTEM, `${SYSTEM} Name the intent first.`]) {
    await api.publish('support-prompt', {
      _type: 'StringPrompt',
      _class_name: 'StringPrompt',
      _bases: ['Prompt', ...OBJECT],
      name: 'support-prompt',
      description: null,
      content,
    })
  }
}

interface RunInput {
  readonly contestant: Contestant
  /** Ref of the model. */
  readonly model: string
  readonly startMs: number
}

interface Scored {
  readonly call: DemoCall
  readonly isCorrect: boolean
  readonly helpfulness: number
  readonly latencyS: number
}

function makeRun(setup: Setup, chance: Chance, { contestant, model, startMs }: RunInput): DemoCall {
  const { evaluation, ops } = setup
  const scored: Scored[] = []
  let atMs = startMs + 40
  for (const row of setup.rows) {
    const one = makePrediction(setup, chance, { contestant, model, startMs: atMs, row })
    scored.push(one)
    atMs = one.call.startMs + 90
  }
  const lastMs = Math.max(...scored.map(({ call }) => call.endMs))
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  const right = scored.filter(({ isCorrect }) => isCorrect).length
  const summary = {
    output: { tokens: { mean: mean(scored.map(({ helpfulness }) => 40 + 20 * helpfulness)) } },
    intent_match: { correct: { true_count: right, true_fraction: right / scored.length } },
    helpfulness: { score: { mean: mean(scored.map(({ helpfulness }) => helpfulness)) } },
    model_latency: { mean: mean(scored.map(({ latencyS }) => latencyS)) },
  }
  const summarize: DemoCall = {
    op: ops.summarize,
    startMs: lastMs + 2,
    endMs: lastMs + 12,
    inputs: { self: evaluation, eval_table: { rows: scored.length } },
    output: summary,
  }
  const day = new Date(startMs).toISOString().slice(0, 10)
  return {
    op: ops.evaluate,
    startMs,
    endMs: lastMs + 14,
    inputs: { self: evaluation, model },
    output: summary,
    displayName: `eval-${day}-${contestant.llm}`,
    children: [...scored.map(({ call }) => call), summarize],
  }
}

function makePrediction(
  { evaluation, dataset, ops, scorers }: Setup,
  chance: Chance,
  { contestant, model, startMs, row }: RunInput & { readonly row: Row },
): Scored {
  const { question, digest } = row
  const example = `${dataset}/attr/rows/id/${digest}`
  const isCorrect = chance.next() < contestant.skill
  const intent = isCorrect ? question.intent : chance.pick(['other', 'product', 'order'])
  const output = { intent, answer: question.answer, tokens: question.answer.length }
  const score = Math.round(100 * Math.min(1, contestant.skill * (0.8 + 0.35 * chance.next()))) / 100
  const chatEndMs = startMs + 8 + chance.latency(contestant.usualMs)
  const inner = { self: model, question: question.text }
  const usage = {
    model: contestant.llm,
    prompt_tokens: 140 + question.text.length,
    completion_tokens: 20 + question.answer.length,
  }
  const chat: DemoCall = {
    op: 'openai.chat.completions.create',
    startMs: startMs + 8,
    endMs: chatEndMs,
    usage,
    inputs: {
      model: contestant.llm,
      messages: [
        { role: 'system', content: contestant.prompt },
        { role: 'user', content: question.text },
      ],
    },
    output: { choices: [{ message: { role: 'assistant', content: question.answer } }] },
  }
  const scores = { intent_match: { correct: intent === question.intent }, helpfulness: { score } }
  const latencyS = (chatEndMs - startMs - 6) / 1000
  const children: DemoCall[] = [
    {
      op: ops.predict,
      startMs: startMs + 4,
      endMs: chatEndMs + 2,
      inputs: inner,
      output,
      children: [chat],
    },
    ...scorers.map((op, at): DemoCall => {
      const begunMs = chatEndMs + 4 + at
      const result = Object.values(scores)[at]
      return {
        op,
        startMs: begunMs,
        endMs: begunMs + 3,
        inputs: { output, intent: question.intent },
        output: result,
      }
    }),
  ]
  const call: DemoCall = {
    op: ops.predictAndScore,
    startMs,
    endMs: chatEndMs + 10,
    children,
    inputs: { self: evaluation, model, example },
    output: { output, scores, model_latency: latencyS },
    attributes: { _weave_eval_meta: { declarative: true } },
  }
  return { call, isCorrect: intent === question.intent, helpfulness: score, latencyS }
}
