/** Answers of an upstream that tests of client libraries share. */
import { type Behaviour, chunk, DONE, event, HELLO_EVENTS, json, stream } from './fake-upstream.ts'

export const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }

/** A whole answer of one choice. */
export function answerOf(message: object, finishReason = 'stop'): Record<string, unknown> {
  return {
    id: 'chatcmpl-up',
    object: 'chat.completion',
    created: 1,
    model: 'up',
    choices: [
      { index: 0, message: { role: 'assistant', ...message }, finish_reason: finishReason },
    ],
    usage: USAGE,
  }
}

export const HELLO_ANSWER = answerOf({ content: 'Hello' })

/** A stream of these deltas, its finish, and its usage. */
export function streamOf(deltas: readonly object[], finishReason = 'stop'): Behaviour {
  return stream([
    ...deltas.map((delta) => event(chunk([{ index: 0, delta, finish_reason: null }]))),
    event(chunk([{ index: 0, delta: {}, finish_reason: finishReason }])),
    event(chunk([], { usage: USAGE })),
    DONE,
  ])
}

/** Says hello, in the way that a request asks for. */
export const hello: Behaviour = (response, request) => {
  const isStream = JSON.parse(request.body).stream === true
  const whole = json(200, HELLO_ANSWER)
  const events = stream([...HELLO_EVENTS, event(chunk([], { usage: USAGE })), DONE])
  return (isStream ? events : whole)(response, request)
}

/** Plays the behaviours one after another; the last one goes on. */
export function inTurn(...behaviours: readonly Behaviour[]): Behaviour {
  let at = 0
  return (response, request) =>
    behaviours[Math.min(at++, behaviours.length - 1)]?.(response, request)
}
