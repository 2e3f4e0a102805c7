/** The chat template of the shipped file, as other engines render it. */
import { readFileSync } from 'node:fs'
import { Template } from '@huggingface/jinja'
import { describe, expect, it } from 'vitest'
import { TINY_MODEL_PATH } from '../../../src/inference/tiny/backend.ts'
import { loadModel } from '../../../src/inference/tiny/model/model.ts'

const source = loadModel(readFileSync(TINY_MODEL_PATH)).chatTemplate
const template = new Template(source)

/** An assistant's call as text: Python engines give the arguments as a mapping, clients as a text. */
function renderCall(call: object): string {
  const tool_calls = [{ type: 'function', function: { name: 'add', ...call } }]
  return template.render({ messages: [{ role: 'assistant', content: '', tool_calls }] })
}

const calling = (args: string): string =>
  `<|im_start|>assistant\n<tool_call>{"name": "add", "arguments": ${args}}</tool_call><|im_end|>\n`

describe('the template of the shipped model', () => {
  it('prints arguments that are a mapping as JSON, and those that are a text unchanged', () => {
    expect(renderCall({ arguments: { a: 3, words: ['b', { c: null }] } })).toBe(
      calling('{"a": 3, "words": ["b", {"c": null}]}'),
    )
    expect(renderCall({ arguments: '{"a":3}' })).toBe(calling('{"a":3}'))
  })

  // llama.cpp and Python print a mapping in Python's notation; the template engine here does not, so its form is checked.
  it('prints arguments by tojson unless they are a text', () => {
    const printed = [...source.matchAll(/\{\{-(.*?)\}\}/g)].map(([, expression]) => expression)
    expect(printed.filter((expression) => /\barguments\b(?!")/.test(expression ?? ''))).toEqual([
      ' arguments if arguments is string else arguments | tojson ',
    ])
  })

  it('prints missing and empty arguments as an empty object', () => {
    for (const call of [{}, { arguments: '' }, { arguments: null }, { arguments: {} }]) {
      expect(renderCall(call)).toBe(calling('{}'))
    }
  })
})
