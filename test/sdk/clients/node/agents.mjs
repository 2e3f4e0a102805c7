/** @openai/agents, by responses as it does unasked, and by chat. */
import { Agent, OpenAIChatCompletionsModel, Runner, setTracingDisabled, tool } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'
import * as cells from './cells.mjs'

setTracingDisabled(true)
const runner = new Runner({ tracingDisabled: true })
const adder = tool({
  name: cells.ADD.name,
  description: cells.ADD.description,
  parameters: z.object({ a: z.int(), b: z.int() }),
  execute: (input) => JSON.stringify(cells.add(input)),
})
const agentOf = (model, more = {}) =>
  new Agent({ name: 'a', model, modelSettings: { temperature: 0 }, ...more })

await cells.run({
  async plain(model) {
    cells.checkText((await runner.run(agentOf(model), cells.QUESTION)).finalOutput)
  },
  async stream(model) {
    const answer = await runner.run(agentOf(model), cells.QUESTION, { stream: true })
    cells.checkPieces(await cells.collect(answer.toTextStream()))
  },
  async tools(model) {
    const answer = await runner.run(agentOf(model, { tools: [adder] }), cells.QUESTION, {
      maxTurns: 4,
    })
    cells.checkText(answer.finalOutput)
    cells.checkUse()
  },
  async structured(model) {
    const agent = agentOf(model, { outputType: z.object({ result: z.int() }) })
    cells.checkSum((await runner.run(agent, cells.QUESTION)).finalOutput)
  },
  async chat(model) {
    const asked = new OpenAIChatCompletionsModel(new OpenAI({ maxRetries: 0 }), model)
    const answer = await runner.run(agentOf(asked, { tools: [adder] }), cells.QUESTION, {
      maxTurns: 4,
    })
    cells.checkText(answer.finalOutput)
    cells.checkUse()
  },
})
