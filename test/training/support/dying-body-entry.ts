/** Entry of a thread that dies of its memory when a body is named `huge`, as a body does that is too large for it. */
import type { BodyReply, BodyRequest } from '../../../src/training/jobs/training-body-entry.ts'

export function readBody({ file }: BodyRequest): BodyReply {
  const kept: object[] = []
  while (file === 'huge') kept.push(new Array(1000).fill({}))
  return { value: { model_id: file } as NonNullable<BodyReply['value']> }
}
