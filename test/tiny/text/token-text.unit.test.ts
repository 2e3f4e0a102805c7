import { expect, it } from 'vitest'
import { createEngine } from '../../../src/inference/tiny/host/engine.ts'
import { listTokens, type TokenPlan } from '../../../src/inference/tiny/services/token-text.ts'
import { modelFile } from '../gguf-fixture.ts'

const engine = createEngine(modelFile())

function tell(of: TokenPlan['of']) {
  const plan: TokenPlan = { kind: 'tokens', of, priority: 0, adapterPath: null }
  const { value } = listTokens(engine, plan).next()
  const [piece] = Array.isArray(value) ? value : []
  if (piece === undefined) throw new Error('the plan told nothing')
  return piece
}

it('ids become one text, and no texts of tokens: a million of them would hold the process up', () => {
  const prompt = { plain: 'ab', param: 'prompt', isEchoed: false, addSpecialTokens: false }
  const cut = tell({ prompt })
  expect(cut).toMatchObject({ text: '', texts: expect.arrayContaining([expect.any(String)]) })
  expect(tell({ ids: cut.ids })).toMatchObject({ text: 'ab', ids: [], texts: [] })
})
