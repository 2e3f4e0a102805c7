/** A start and an end with nothing but what is required. */
export const STARTED = {
  project_id: 'acme/demo',
  op_name: 'predict',
  started_at: '2026-01-02T03:04:05.123456Z',
  attributes: {},
  inputs: { question: 'why' },
}

export const ENDED = {
  project_id: 'acme/demo',
  id: 'call-1',
  ended_at: '2026-01-02T03:04:06.999999Z',
}
