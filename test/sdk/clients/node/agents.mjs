/** @openai/agents, by responses as it does unasked, and by chat. */
import { Agent, OpenAIChatCompletionsModel, Runner, setTracingDisabled, tool } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'
import {
  ADD,
  add,
  checkPieces,
  checkSum,
  checkText,
  checkUse,
  collect,
  QUESTION,
  run,
} from './cells.mjs'

setTracingDisabled(true)
const runner = new Runner({ tracingDisabled: true })
const adder = tool({
  name: ADD.name,
  description: ADD.description,
  parameters: z.object({ a: z.int(), b: z.int() }),
  execute: (input) => JSON.stringify(add(input)),
})
const agentOf = (model, more = {}) =>
  new Agent({ name: 'a', model, modelSettings: { temperature: 0 }, ...more })

await run({
  async plain(model) {
    checkText((await runner.run(agentOf(model), QUESTION)).finalOutput)
  },
  async stream(model) {
    const answer = await runner.run(agentOf(model), QUESTION, { stream: true })
    checkPieces(await collect(answer.toTextStream()))
  },
  async tools(model) {
    const answer = await runner.run(agentOf(model, { tools: [adder] }), QUESTION, { maxTurns: 4 })
    checkText(answer.finalOutput)
    checkUse()
  },
  async structured(model) {
    const agent = agentOf(model, { outputType: z.object({ result: z.int() }) })
    checkSum((await runner.run(agent, QUESTION)).finalOutput)
  },
  async chat(model) {
    const asked = new OpenAIChatCompletionsModel(new OpenAI({ maxRetries: 0 }), model)
    const answer = await runner.run(agentOf(asked, { tools: [adder] }), QUESTION, { maxTurns: 4 })
    checkText(answer.finalOutput)
    checkUse()
  },
})
