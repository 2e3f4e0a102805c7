import { describe, expect, it } from 'vitest'
import { createRedact } from '../../../../src/inference/openai/upstream/redaction.ts'

function redact(text: string, apiKey: string | null, query = ''): string {
  return createRedact(new URL(`http://up.example:8000/v1${query}`), apiKey)(text)
}

describe('the words of an upstream', () => {
  it.each<[string, string, string | null, string]>([
    ['every copy of its key', 'a sk-12345678 b"sk-12345678"', 'sk-12345678', 'a [key] b"[key]"'],
    ['a key inside a word', 'xsk-12345678x', 'sk-12345678', 'x[key]x'],
    ['a key with signs', 'is a+b.c(d)[e]$^/\\-', 'a+b.c(d)[e]$^/\\-', 'is [key]'],
    ['a key as JSON writes it', '{"k":"ab\\"cdefgh"}', 'ab"cdefgh', '{"k":"[key]"}'],
    ['a key with spaces around it', 'is sk-12345678', ' sk-12345678 ', 'is [key]'],
    ['its address', 'at up.example:8000/v1', null, 'at [address]/v1'],
    ['address and key', 'up.example:8000 sk-12345678', 'sk-12345678', '[address] [key]'],
  ])('lose %s', (_name, text, key, expected) => {
    expect(redact(text, key)).toBe(expected)
  })

  it('lose a short key only where it is a word', () => {
    expect(redact('EMPTY is not in EMPTYs, but "EMPTY"', 'EMPTY')).toBe(
      '[key] is not in EMPTYs, but "[key]"',
    )
  })

  it('lose the keys in the query of the address, sent or meant, but no settings', () => {
    const query = '?api-key=se%2Bcret%2F1234&version=7&token123456'
    const text = 'se%2Bcret%2F1234 se+cret/1234 token123456 version 7'
    expect(redact(text, null, query)).toBe('[key] [key] [key] version 7')
  })

  it('lose the longer of two keys as a whole', () => {
    expect(redact('secret-key-long secret-key', 'secret-key', '?k=secret-key-long')).toBe(
      '[key] [key]',
    )
  })

  it('are otherwise unchanged', () => {
    const text = 'top_k must be at least 1, got [key] null'
    expect(redact(text, 'sk-12345678')).toBe(text)
    expect(redact(text, ' ')).toBe(text)
  })
})
