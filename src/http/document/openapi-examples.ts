/** One working request for each route with a body, shown at /docs. A test sends them all. */

const PROJECT = 'acme/demo'

/** Examples of bodies by the path of their route. */
export const BODY_EXAMPLES: Readonly<Record<string, object>> = {
  '/call/start': {
    start: {
      project_id: PROJECT,
      id: 'call-1',
      op_name: 'answer',
      started_at: '2026-01-31T09:30:00.250000Z',
      attributes: {},
      inputs: { question: 'Why?' },
    },
  },
  '/call/end': {
    end: {
      project_id: PROJECT,
      id: 'call-1',
      ended_at: '2026-01-31T09:30:01Z',
      output: 'Because.',
      summary: { usage: { 'gpt-4o-mini': { prompt_tokens: 1000, completion_tokens: 100 } } },
    },
  },
  '/call/read': { project_id: PROJECT, id: 'call-1', include_costs: true },
  '/calls/stats': {
    project_id: PROJECT,
    start: '2026-01-31T00:00:00Z',
    end: '2026-02-01T00:00:00Z',
    granularity: 3600,
    timezone: 'Europe/Berlin',
    call_metrics: [{ metric: 'latency_ms', aggregations: ['avg', 'max'], percentiles: [50, 99] }],
    usage_metrics: [{ metric: 'total_tokens' }, { metric: 'total_cost' }],
    filter: { op_names: ['answer'] },
  },
  '/calls/exports': {
    project_id: PROJECT,
    format: 'csv',
    columns: ['id', 'started_at', 'op_name', 'status', 'inputs.question', 'output'],
  },
  '/completions/create': {
    project_id: PROJECT,
    inputs: { model: 'tiny', messages: [{ role: 'user', content: 'What is 3 plus 4?' }] },
    trace_id: 'trace-1',
  },
  '/completions/create_stream': {
    project_id: PROJECT,
    inputs: { model: 'tiny', messages: [{ role: 'user', content: 'What is 3 plus 4?' }] },
    track_llm_call: false,
  },
  '/feedback/create': {
    project_id: PROJECT,
    weave_ref: 'weave:///acme/demo/object/answer:v1',
    feedback_type: 'rating',
    payload: { stars: 5, reason: 'short and right' },
  },
  '/feedback/payload_schema': {
    project_id: PROJECT,
    start: '2026-01-01T00:00:00Z',
    feedback_type: 'rating',
  },
  '/v1/preview/trajectory-groups/from-calls': {
    project_id: PROJECT,
    filter: { op_names: ['chat.completions'] },
    group_by: 'inputs.messages',
    reward: {
      feedback_type: 'rating',
      expression: { $divide: [{ $getField: 'payload.stars' }, { $literal: 5 }] },
    },
  },
  '/v1/preview/training-jobs/from-calls': {
    project_id: PROJECT,
    model_id: '0194b3c0-0000-7000-8000-000000000001',
    filter: { op_names: ['chat.completions'] },
    reward: [
      { feedback_type: 'rating', path: 'payload.stars', weight: 0.2 },
      { feedback_type: 'wandb.runnable.polite', path: 'payload.output.passed', missing: 0 },
    ],
    held_out: 0.2,
    experimental_config: { learning_rate: 0.001 },
  },
  '/v1/chat/completions': {
    messages: [{ role: 'user', content: 'What is 3 plus 4?' }],
    temperature: 0,
  },
  '/v1/preview/models': {
    entity: 'acme',
    project: 'demo',
    name: 'sums',
    base_model: 'tiny',
    return_existing: true,
  },
  '/v1/preview/training-jobs': {
    model_id: '0194b3c0-0000-7000-8000-000000000001',
    trajectory_groups: [
      {
        trajectories: [
          {
            messages_and_choices: [
              { role: 'user', content: 'What is 3 plus 4?' },
              {
                finish_reason: 'stop',
                index: 0,
                message: { role: 'assistant', content: '3 plus 4 is 7.' },
                logprobs: null,
              },
            ],
            reward: 1,
          },
        ],
      },
    ],
    experimental_config: { learning_rate: 0.00001 },
  },
}
