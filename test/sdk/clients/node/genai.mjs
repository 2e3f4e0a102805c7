/** @google/genai: generations with calls of functions and schemas, and counts of tokens. */
import assert from 'node:assert/strict'
import { GoogleGenAI, Type } from '@google/genai'
import * as cells from './cells.mjs'

const baseUrl = process.env.OPENAI_BASE_URL.replace(/\/v1$/, '')
const { models } = new GoogleGenAI({ apiKey: process.env.OPENAI_API_KEY, httpOptions: { baseUrl } })
const contents = cells.QUESTION

await cells.run({
  async plain(model) {
    const answer = await models.generateContent({ model, contents })
    cells.checkText(answer.text)
    assert.ok(answer.usageMetadata.promptTokenCount > 0)
  },
  async stream(model) {
    const chunks = await cells.collect(
      await models.generateContentStream({ model, contents }),
      (chunk) => chunk,
    )
    cells.checkPieces(chunks.map(({ text }) => text))
    assert.equal(chunks.at(-1).candidates[0].finishReason, 'STOP')
  },
  async tools(model) {
    const { name, description, parameters } = cells.ADD
    const declaration = { name, description, parametersJsonSchema: parameters }
    const tools = [{ functionDeclarations: [declaration] }]
    const asked = [{ role: 'user', parts: [{ text: contents }] }]
    const first = await models.generateContent({ model, contents: asked, config: { tools } })
    const [call] = first.functionCalls
    const response = { result: cells.add(call.args) }
    const result = { functionResponse: { id: call.id, name: call.name, response } }
    asked.push(first.candidates[0].content, { role: 'user', parts: [result] })
    const second = await models.generateContent({ model, contents: asked, config: { tools } })
    cells.checkText(second.text)
    cells.checkUse()
  },
  async structured(model) {
    const responseSchema = {
      type: Type.OBJECT,
      properties: { result: { type: Type.INTEGER } },
      required: ['result'],
    }
    const config = { responseMimeType: 'application/json', responseSchema }
    const answer = await models.generateContent({ model, contents, config })
    cells.checkSum(JSON.parse(answer.text))
  },
  async tokens(model) {
    assert.ok((await models.countTokens({ model, contents })).totalTokens > 0)
  },
})
