/** Feedback to send and to store, and a look at what was stored. */
import { type Feedback, resolveFeedback } from '../../src/domain/feedback/new-feedback.ts'
import { FeedbackCreateRequest } from '../../src/schemas/feedback/feedback.ts'
import { timestampUs } from '../../src/schemas/timestamp.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'

/** Nothing but what is required. */
export const FEEDBACK = {
  project_id: 'acme/demo',
  weave_ref: 'weave:///acme/demo/object/answer:v1',
  feedback_type: 'custom',
  payload: { score: 0.9 },
}

/** Everything. */
export const FULL_FEEDBACK = {
  ...FEEDBACK,
  id: 'feedback-1',
  creator: 'Ada',
  annotation_ref: 'weave:///acme/demo/object/quality:v2',
  runnable_ref: 'weave:///acme/demo/op/judge:v3',
  call_ref: 'weave:///acme/demo/call/call-1',
  trigger_ref: 'weave:///acme/demo/object/monitor:v4',
  queue_id: 'queue-1',
}

/** An app that has the queue of FULL_FEEDBACK. */
export async function buildQueueApp(): Promise<TestApp> {
  const app = await buildTestApp()
  await app.deps.annotation.createQueue({
    id: FULL_FEEDBACK.queue_id,
    project_id: FULL_FEEDBACK.project_id,
    name: 'To judge',
    description: '',
    scorer_refs_json: '[]',
    queue_type: 'call',
    created_by: 'u-1',
    created_at_us: 1,
    updated_at_us: 1,
    deleted_at_us: null,
    rules_json: null,
    rules_position: 0,
  })
  return app
}

/** Stored feedback of a time; its payload is `{ [id]: 1 }`, so that paths tell which were looked into. */
export function feedbackAt(created_at: string, id: string, fields: object = {}): Feedback {
  const request = { ...FEEDBACK, id, payload: { [id]: 1 }, ...fields }
  const created_at_us = timestampUs(created_at)
  const defaults = { id: 'unused', svc_user_id: 'u-1', created_at_us }
  return resolveFeedback(FeedbackCreateRequest.parse(request), defaults, 2 ** 30)
}

/** A trigger ref of the project. */
export function trigger(name: string, digest = 'v1'): string {
  return `weave:///acme/demo/object/${name}:${digest}`
}

/** Paths of the payloads of the project, those of the newest record of each trigger. */
export async function storedPaths({ post }: TestApp, fields: object = {}): Promise<string[]> {
  const { status, body } = await post('/feedback/payload_schema', {
    project_id: 'acme/demo',
    start: '2000-01-01T00:00:00Z',
    ...fields,
  })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.paths.map(({ json_path }: { json_path: string }) => json_path)
}
