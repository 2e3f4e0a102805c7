import { describe, expect, it } from 'vitest'
import { ApiError } from '../../src/errors.ts'
import {
  type CompletedAnswer,
  type CompletionWatch,
  openCompletionTold,
} from '../../src/inference/chat/completion-watch.ts'
import {
  createScriptedBackend,
  HELLO,
  piece,
  prompt,
  scriptedModels,
} from '../support/scripted-backend.ts'

function openTold(isStream: boolean) {
  const events: unknown[] = []
  const answers: CompletedAnswer[] = []
  const watch: CompletionWatch = {
    completed: (answer) => answers.push(answer),
    fellBack: (model) => events.push(['fell back', model]),
    upstreamAsked: (model, isRetry) => events.push(['asked', model, isRetry]),
    streamBegan: () => events.push('began'),
    streamEnded: () => events.push('ended'),
  }
  const models = scriptedModels({ backend: createScriptedBackend(HELLO) })
  const model = models.getModel(null)
  return { told: openCompletionTold(watch, models, isStream), model, events, answers }
}

const relayed = (usage: unknown) => ({
  type: 'relayed' as const,
  texts: [{ json: '{}', value: { usage } }],
})

describe('what is told of a completion', () => {
  it('includes tries, fallbacks and the end of a stream', () => {
    const { told, model, events, answers } = openTold(true)
    const first = told.turnTo(model)
    first.asked()
    first.asked()
    told.turnTo({ ...model, id: 'weave:///acme/demo/owl:step3' }).asked()
    told.note(prompt(7))
    expect(events).not.toContain('began')
    told.note(piece('Hi', { tokenCount: 2 }))
    told.note(piece('!'))
    told.end(new ApiError('client_closed_request'))
    expect(events).toEqual([
      ['asked', 'scripted', false],
      ['asked', 'scripted', true],
      ['fell back', 'scripted'],
      ['asked', 'trained', false],
      ...['began', 'ended'],
    ])
    const failure = 'client_closed_request'
    const counted = { model: 'trained', failure, promptTokens: 7, outputTokens: 3 }
    expect(answers).toMatchObject([counted])
  })

  it('names the first model when all have failed', () => {
    const { told, model, answers } = openTold(false)
    told.turnTo(model)
    told.turnTo({ ...model, id: 'weave:///acme/demo/owl:step3' })
    told.turnBack()
    told.end(new ApiError('upstream_error'))
    expect(answers).toMatchObject([{ model: 'scripted', failure: 'upstream_error' }])
  })

  it('includes the time spent outside of upstreams, which is never negative', () => {
    const { told, model, answers } = openTold(false)
    told.turnTo(model).waited(60_000)
    told.note(relayed({ prompt_tokens: 5, completion_tokens: 4 }))
    told.end(null)
    expect(answers).toMatchObject([{ ownSeconds: 0, promptTokens: 5, outputTokens: 4 }])
  })

  it('has no such time if no upstream was asked or nothing arrived', () => {
    const tiny = openTold(false)
    tiny.told.turnTo(tiny.model)
    tiny.told.note(piece('Hi'))
    tiny.told.end(null)
    const refused = openTold(true)
    refused.told.turnTo(refused.model).waited(1)
    refused.told.end(new Error('broken'))
    expect(tiny.answers[0]).toMatchObject({ ownSeconds: null, failure: null })
    const nothing = { ownSeconds: null, firstSeconds: null, failure: 'internal_error' }
    expect(refused.answers[0]).toMatchObject(nothing)
    expect(refused.events).toEqual([])
  })

  it('includes the tokens that Groq reports in a place of its own', () => {
    const { told, model, answers } = openTold(true)
    told.turnTo(model)
    const value = { usage: null, x_groq: { usage: { prompt_tokens: 5, completion_tokens: 4 } } }
    told.note({ type: 'relayed', texts: [{ json: '{}', value }] })
    told.end(null)
    expect(answers).toMatchObject([{ promptTokens: 5, outputTokens: 4 }])
  })

  it.each([
    [{ prompt_tokens: 'many', completion_tokens: -1 }],
    [{ prompt_tokens: 1.5, completion_tokens: 1e300 }],
    [null],
  ])('counts no tokens where the usage is %j', (usage) => {
    const { told, model, answers } = openTold(false)
    told.turnTo(model)
    told.note(relayed(usage))
    told.end(null)
    expect(answers).toMatchObject([{ promptTokens: 0, outputTokens: 0 }])
  })
})
