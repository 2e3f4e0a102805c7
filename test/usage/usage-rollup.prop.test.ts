import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPriceTable } from '../../src/domain/prices/price-table.ts'
import { readUsage } from '../../src/domain/usage/usage.ts'
import {
  type PausingWork,
  rollUpUsage,
  type UsageCall,
} from '../../src/domain/usage/usage-rollup.ts'

const prices = createPriceTable()

/** Runs work to its end. */
function finish<Value>(work: PausingWork<Value>): Value {
  for (let next = work.next(); ; next = work.next()) if (next.done) return next.value
}

/** A tree: each call's parent is one before it. */
const tree = fc
  .array(fc.record({ parent: fc.nat(), tokens: fc.integer({ min: 0, max: 1000 }) }), {
    minLength: 1,
    maxLength: 12,
  })
  .map((nodes) =>
    nodes.map(({ parent, tokens }, index) => ({
      id: `c${index}`,
      parent: index === 0 ? null : parent % index,
      tokens,
    })),
  )
type Node = (typeof tree extends fc.Arbitrary<infer T> ? T : never)[number]

function callOf({ id, parent }: Node, tokens: number, requests: number): UsageCall {
  return {
    id,
    parent_id: parent === null ? null : `c${parent}`,
    started_at_us: 0,
    usage: readUsage({ usage: { 'gpt-4o': { prompt_tokens: tokens, requests } } }),
    pricesOf: ({ model }) => prices.find(model, null, 1_700_000_000_000_000),
  }
}

/** What the leaves below a node, and the node itself when it is a leaf, were used for. */
function leafSum(nodes: readonly Node[], index: number): number {
  const children = nodes.filter(({ parent }) => parent === index)
  if (children.length === 0) return nodes[index]?.tokens ?? 0
  return children.reduce((sum, child) => sum + leafSum(nodes, nodes.indexOf(child)), 0)
}

describe('rollUpUsage', () => {
  it('gives the same whether parents carry their children or nothing, in any order', () => {
    fc.assert(
      fc.property(tree, fc.boolean(), fc.integer(), (nodes, isSummed, seed) => {
        const isLeaf = (index: number) => nodes.every(({ parent }) => parent !== index)
        const leaves = nodes.map((node) => ({ ...node, tokens: 1 }))
        const calls = nodes.map((node, index) =>
          isSummed || isLeaf(index)
            ? callOf(node, leafSum(nodes, index), leafSum(leaves, index))
            : callOf(node, 0, 0),
        )
        const shuffled = calls.toSorted((a, b) => hash(a.id, seed) - hash(b.id, seed))
        const totals = finish(rollUpUsage(shuffled, 'own', true))
        for (const [index, { id }] of nodes.entries()) {
          const expected = leafSum(nodes, index)
          const { prompt_tokens, total_tokens, prompt_tokens_total_cost } =
            totals.get(id)?.['gpt-4o'] ?? {}
          expect([prompt_tokens, total_tokens]).toEqual([expected, expected])
          expect(prompt_tokens_total_cost).toBe((expected * 2.5e9) / 1e15)
        }
      }),
    )
  })

  it('adds what a parent used beyond its children', () => {
    const nodes: Node[] = [
      { id: 'c0', parent: null, tokens: 0 },
      { id: 'c1', parent: 0, tokens: 0 },
    ]
    const calls = nodes.map((node, index) => callOf(node, index === 0 ? 10 : 4, 1))
    expect(finish(rollUpUsage(calls, 'own', false)).get('c0')?.['gpt-4o']).toMatchObject({
      prompt_tokens: 10,
      prompt_tokens_total_cost: null,
    })
  })

  it('adds no token twice to a call, also where calls are below themselves', () => {
    const links = fc.array(fc.nat({ max: 5 }), { minLength: 6, maxLength: 6 })
    fc.assert(
      fc.property(links, (parents) => {
        const calls = parents.map((parent, index) => ({
          ...callOf({ id: `c${index}`, parent, tokens: 0 }, 10 ** index, 1),
          usage: readUsage({ usage: { m: { prompt_tokens: 10 ** index } } }),
        }))
        for (const { m } of finish(rollUpUsage(calls, 'own', false)).values()) {
          expect(String(m?.prompt_tokens)).toMatch(/^[01]+$/)
        }
      }),
    )
  })
})

function hash(text: string, seed: number): number {
  let value = seed
  for (const character of text) value = Math.imul(value ^ character.charCodeAt(0), 0x01000193)
  return value
}
