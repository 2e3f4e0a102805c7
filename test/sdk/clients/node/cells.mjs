/**
 * The cells of one client: each way of asking, on each model. Prints a JSON line for each of them. A cell is a function
 * of a model's name: it returns when what came is right, and throws when it is not.
 */
import assert from 'node:assert/strict'

export const BASE_URL = process.env.OPENAI_BASE_URL
export const API_KEY = process.env.OPENAI_API_KEY
export const QUESTION = 'What is 3 plus 4?'
/** A text that the model goes on with. */
export const TEXT = `user\n${QUESTION}\nassistant\n`
const REASON_CHARS_MAX = 300

/** What the tool was called with in the cell that runs. */
let uses = []

export const ADD = {
  name: 'add',
  description: 'Adds two numbers.',
  parameters: {
    type: 'object',
    properties: { a: { type: 'integer' }, b: { type: 'integer' } },
    required: ['a', 'b'],
    additionalProperties: false,
  },
}

export function add({ a, b }) {
  uses.push([a, b])
  return { result: a + b }
}

export function checkText(text) {
  assert.equal(typeof text, 'string')
  assert.notEqual(text.trim(), '')
}

export function checkPieces(pieces) {
  const texts = pieces.filter(Boolean)
  assert.ok(texts.length > 1, `the text came in ${texts.length} piece`)
  checkText(texts.join(''))
}

export function checkUse() {
  assert.ok(uses.length > 0 && uses.flat().every(Number.isInteger), JSON.stringify(uses))
}

export function checkSum(value) {
  assert.ok(Number.isInteger(value?.result), JSON.stringify(value))
}

export async function collect(pieces, read = (piece) => piece) {
  const all = []
  for await (const piece of pieces) all.push(read(piece))
  return all
}

async function outcomeOf(cell, model) {
  uses = []
  try {
    await cell(model)
    return 'ok'
  } catch (error) {
    const text = `${error?.message}`.replaceAll(/\s+/g, ' ')
    return `fails: ${error?.name}: ${text.slice(0, REASON_CHARS_MAX)}`
  }
}

export async function run(cells) {
  for (const model of process.env.MODELS.split(' ')) {
    for (const [way, cell] of Object.entries(cells)) {
      const outcome = await outcomeOf(cell, model)
      process.stdout.write(`cell:${JSON.stringify({ model, way, outcome })}\n`)
    }
  }
  process.exit()
}
