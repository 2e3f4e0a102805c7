import { describe, expect, it } from 'vitest'
import { requireFeedbackRules } from '../../src/domain/feedback/feedback-rules.ts'
import { FeedbackCreateRequest } from '../../src/schemas/feedback/feedback.ts'
import { FEEDBACK } from './feedback-fixtures.ts'

const REACTION = { feedback_type: 'wandb.reaction.1', payload: { emoji: '👍' } }
const NOTE = { feedback_type: 'wandb.note.1', payload: { note: 'good' } }
const ANNOTATION = {
  feedback_type: 'wandb.annotation.quality',
  annotation_ref: 'weave:///acme/demo/object/quality:v1',
  payload: { value: 3 },
}
const RUNNABLE = {
  feedback_type: 'wandb.runnable.judge',
  runnable_ref: 'weave:///acme/demo/op/judge:v1',
  call_ref: 'weave:///acme/demo/call/c1',
  payload: { output: { score: 1 } },
}

/** Null when the rules are kept, else the field at fault. */
function brokenField(fields: object): string | null {
  const feedback = FeedbackCreateRequest.parse({ ...FEEDBACK, ...fields })
  try {
    requireFeedbackRules(feedback)
    return null
  } catch (error) {
    expect(error).toMatchObject({ code: 'validation_failed' })
    return (error as { param: string }).param
  }
}

describe('requireFeedbackRules', () => {
  it.each([
    ['a reaction', REACTION],
    ['a note', NOTE],
    ['an annotation', ANNOTATION],
    ['a runnable', RUNNABLE],
    ['a note of 1024 characters', { ...NOTE, payload: { note: '👍'.repeat(1024) } }],
    ['an annotation of null', { ...ANNOTATION, payload: { value: null } }],
    ['a runnable with null output', { ...RUNNABLE, payload: { output: null } }],
    [
      'a name with a dot',
      {
        ...ANNOTATION,
        feedback_type: 'wandb.annotation.a.b',
        annotation_ref: 'weave:///acme/demo/object/a.b:v1',
      },
    ],
    [
      'an op of another project',
      { ...RUNNABLE, runnable_ref: 'weave:///other/project/op/judge:v1' },
    ],
    ['more in the payload than needed', { ...REACTION, payload: { emoji: '👍', alias: ':+1:' } }],
    ['a tag', { feedback_type: 'weft.tag', payload: { tag: 'é x' } }],
    ['a type that begins like that of tags', { feedback_type: 'weft.tags', payload: {} }],
    ['a free type with an empty payload', { payload: {} }],
    ['another wandb type', { feedback_type: 'wandb.other', payload: {} }],
    ['a type that only contains a reserved one', { feedback_type: 'my.wandb.note', payload: {} }],
    ['a free type with refs', { ...RUNNABLE, ...ANNOTATION, feedback_type: 'custom', payload: {} }],
  ])('takes §2.2 feedback_type and payload of %s', (_what, fields) => {
    expect(brokenField(fields)).toBeNull()
  })

  it.each([
    ['a reaction without emoji', 'payload.emoji', { ...REACTION, payload: {} }],
    ['a reaction of null', 'payload.emoji', { ...REACTION, payload: { emoji: null } }],
    ['a reaction of two', 'payload.emoji', { ...REACTION, payload: { emoji: '👍👍' } }],
    ['a reaction of text', 'payload.emoji', { ...REACTION, payload: { emoji: ':+1:' } }],
    [
      'an inherited emoji',
      'payload.emoji',
      { ...REACTION, payload: Object.create({ emoji: '👍' }) },
    ],
    ['a tag without a name', 'payload.tag', { feedback_type: 'weft.tag', payload: {} }],
    ['a tag with a comma', 'payload.tag', { feedback_type: 'weft.tag', payload: { tag: 'a,b' } }],
    ['a note without text', 'payload.note', { ...NOTE, payload: {} }],
    ['an empty note', 'payload.note', { ...NOTE, payload: { note: '' } }],
    ['a note that is no text', 'payload.note', { ...NOTE, payload: { note: 1 } }],
    ['a long note', 'payload.note', { ...NOTE, payload: { note: 'a'.repeat(1025) } }],
    [
      'an annotation without name',
      'feedback_type',
      { ...ANNOTATION, feedback_type: 'wandb.annotation' },
    ],
    [
      'an annotation of an empty name',
      'feedback_type',
      { ...ANNOTATION, feedback_type: 'wandb.annotation.' },
    ],
    [
      'a longer reserved word',
      'feedback_type',
      { ...ANNOTATION, feedback_type: 'wandb.annotations.quality' },
    ],
    ['an annotation without ref', 'annotation_ref', { ...ANNOTATION, annotation_ref: null }],
    [
      'an annotation of another name',
      'annotation_ref',
      { ...ANNOTATION, annotation_ref: 'weave:///acme/demo/object/quality2:v1' },
    ],
    [
      'an annotation of another project',
      'annotation_ref',
      { ...ANNOTATION, annotation_ref: 'weave:///acme/demo2/object/quality:v1' },
    ],
    ['an annotation without value', 'payload.value', { ...ANNOTATION, payload: { output: 1 } }],
    ['a runnable without name', 'feedback_type', { ...RUNNABLE, feedback_type: 'wandb.runnable.' }],
    ['a runnable without ref', 'runnable_ref', { ...RUNNABLE, runnable_ref: undefined }],
    [
      'a runnable of another name',
      'runnable_ref',
      { ...RUNNABLE, runnable_ref: 'weave:///acme/demo/op/jury:v1' },
    ],
    ['a runnable without call', 'call_ref', { ...RUNNABLE, call_ref: null }],
    ['a runnable without output', 'payload.output', { ...RUNNABLE, payload: { value: 1 } }],
  ])('refuses %s as a fault of %s', (_what, param, fields) => {
    expect(brokenField(fields)).toBe(param)
  })
})
