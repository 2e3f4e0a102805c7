/** Feedback with nothing but what is required, and with everything. */
export const FEEDBACK = {
  project_id: 'acme/demo',
  weave_ref: 'weave:///acme/demo/object/answer:v1',
  feedback_type: 'custom',
  payload: { score: 0.9 },
}

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
