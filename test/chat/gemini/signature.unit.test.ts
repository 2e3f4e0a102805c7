/** Signatures of thoughts and calls on their way to a client of the Gemini API and back. */
import { expect, it } from 'vitest'
import { createContentWriter } from '../../../src/domain/chat/gemini/content-response.ts'
import { toChatMessages } from '../../../src/domain/chat/gemini/contents.ts'

const HEAD = { responseId: 'r', modelVersion: 'm', showsThoughts: false }
const SIGNED = { type: 'reasoning.text', text: 'why', signature: 'c+/g=' }
const EXTRA = { google: { thought_signature: 'abc' } }

it('signatures of reasoning and of calls return with the first call and with each', () => {
  const call = (id: string, extra: object) => ({
    id,
    type: 'function',
    function: { name: 'f', arguments: '{}' },
    ...extra,
  })
  const message = {
    reasoning: 'why',
    reasoning_details: [SIGNED, { type: 'reasoning.text', text: 'unsigned' }],
    tool_calls: [call('a', {}), call('b', { extra_content: EXTRA })],
  }
  const completion = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
  const [candidate] = createContentWriter(HEAD).whole(completion).candidates as [
    { content: object },
  ]
  // Clients in Python return the bytes in the alphabet for addresses.
  const returned = JSON.parse(
    JSON.stringify(candidate.content, (name, value) =>
      name === 'thoughtSignature' ? value.replaceAll('+', '-').replaceAll('/', '_') : value,
    ),
  )
  const { messages } = toChatMessages({ contents: [returned], systemInstruction: null }, false)
  expect(messages).toEqual([
    {
      role: 'assistant',
      content: null,
      reasoning_details: [SIGNED],
      tool_calls: message.tool_calls,
    },
  ])
})

it('a signature without a call is in a last part without text', () => {
  const message = { content: 'so', reasoning_details: [SIGNED] }
  const completion = { choices: [{ index: 0, message, finish_reason: 'stop' }] }
  const [candidate] = createContentWriter(HEAD).whole(completion).candidates as [
    { content: { parts: object[] } },
  ]
  expect(candidate.content.parts).toEqual([
    { text: 'so' },
    { text: '', thoughtSignature: expect.any(String) },
  ])
})

it.each([
  'skip_thought_signature_validator',
  'c2ln',
  btoa('{"weft":2}'),
  btoa('{"weft":1,"reasoning_details":[1]}'),
])('a signature of another maker holds nothing: %s', (thoughtSignature) => {
  const parts = [{ text: 'a', thoughtSignature }]
  const { messages } = toChatMessages(
    { contents: [{ role: 'model', parts }], systemInstruction: null },
    false,
  )
  expect(messages).toEqual([{ role: 'assistant', content: 'a' }])
})
