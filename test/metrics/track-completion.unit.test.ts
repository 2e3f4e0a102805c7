import { describe, expect, it } from 'vitest'
import { ApiError } from '../../src/errors.ts'
import {
  type CompletionWatch,
  createModelLatencies,
  type FinishedCompletion,
  trackCompletion,
} from '../../src/inference/chat/track-completion.ts'
import { composeObservers } from '../../src/inference/chat/try-models.ts'
import {
  createScriptedBackend,
  HELLO,
  piece,
  prompt,
  scriptedModels,
} from '../support/scripted-backend.ts'

function track(isStream: boolean) {
  const events: unknown[] = []
  const answers: FinishedCompletion[] = []
  const watch: CompletionWatch = {
    completed: (answer) => answers.push(answer),
    fellBack: (model) => events.push(['fell back', model]),
    upstreamRequested: (model, isRetry) => events.push(['asked', model, isRetry]),
    streamBegan: () => events.push('began'),
    streamEnded: () => events.push('ended'),
  }
  const models = scriptedModels({ backend: createScriptedBackend(HELLO) })
  const model = models.getModel(null)
  const latencies = createModelLatencies(() => 7)
  const tokens = () => ({ prompt: 7, output: 3 })
  const tracker = trackCompletion({ watch, latencies, models, isStream, tokens })
  return { observer: composeObservers([tracker]), model, latencies, events, answers }
}

describe('the tracker of a completion', () => {
  it('reports tries, fallbacks, tokens and the end of a stream', () => {
    const { observer, model, events, answers } = track(true)
    observer.onModel(model)
    observer.onUpstream(1)
    observer.onUpstream(2)
    observer.onModel({ ...model, id: 'weave:///acme/demo/owl:step3' })
    observer.onUpstream(1)
    observer.onDelta(prompt(7))
    expect(events).not.toContain('began')
    observer.onDelta(piece('Hi', { tokenCount: 2 }))
    observer.onDelta(piece('!'))
    observer.onEnd(new ApiError('client_closed_request'))
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
    const { observer, model, answers } = track(false)
    observer.onModel(model)
    observer.onModel({ ...model, id: 'weave:///acme/demo/owl:step3' })
    observer.onAllFailed(model)
    observer.onEnd(new ApiError('upstream_error'))
    expect(answers).toMatchObject([{ model: 'scripted', failure: 'upstream_error' }])
  })

  it('reports the time spent outside of upstreams, which is never negative', () => {
    const { observer, model, answers } = track(false)
    observer.onModel(model)
    observer.onTried(60_000)
    observer.onDelta(piece('Hi'))
    observer.onEnd(null)
    expect(answers).toMatchObject([{ ownSeconds: 0 }])
  })

  it('reports no such time if no upstream was asked or nothing arrived', () => {
    const tiny = track(false)
    tiny.observer.onModel(tiny.model)
    tiny.observer.onDelta(piece('Hi'))
    tiny.observer.onEnd(null)
    const refused = track(true)
    refused.observer.onModel(refused.model)
    refused.observer.onTried(1)
    refused.observer.onEnd(new Error('broken'))
    expect(tiny.answers[0]).toMatchObject({ ownSeconds: null, failure: null })
    const nothing = { ownSeconds: null, firstSeconds: null, failure: 'internal_error' }
    expect(refused.answers[0]).toMatchObject(nothing)
    expect(refused.events).toEqual([])
  })

  it('counts an answer of each model that had a slot', () => {
    const { observer, model, latencies } = track(false)
    observer.onModel(model)
    observer.onAdmitted()
    observer.onModelEnd(new ApiError('upstream_error'))
    observer.onModel({ ...model, id: 'other' })
    observer.onAdmitted()
    observer.onDelta(piece('Hi'))
    observer.onModelEnd(null)
    observer.onModel({ ...model, id: 'full' })
    observer.onModelEnd(new ApiError('upstream_error'))
    const counts = [...latencies.read()].map(([id, { answers, failures }]) => [
      id,
      answers,
      failures,
    ])
    expect(counts).toEqual([
      ['scripted', 0, 1],
      ['other', 1, 0],
    ])
  })
})
