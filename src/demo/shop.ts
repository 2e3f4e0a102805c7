/** What happens in the shop of the demo: questions of customers, tools, answers. */

export interface CustomerRequest {
  readonly text: string
  readonly intent: 'order' | 'refund' | 'product' | 'other'
  readonly answer: string
}

export const REQUESTS: readonly [CustomerRequest, ...CustomerRequest[]] = [
  {
    text: 'Where is my order 4711?',
    intent: 'order',
    answer: 'It left our warehouse and arrives on Thursday.',
  },
  {
    text: 'The mug arrived broken. Can I have my money back?',
    intent: 'refund',
    answer: 'I am sorry. The refund of $18.00 is on its way and takes two days.',
  },
  {
    text: 'Is the blue teapot safe for the dishwasher?',
    intent: 'product',
    answer: 'Yes, in the upper rack, at 60 °C at most.',
  },
  {
    text: 'Can I change the address of order 5120?',
    intent: 'order',
    answer: 'Done: it goes to your new address.',
  },
  {
    text: 'How long do you keep my data?',
    intent: 'other',
    answer: 'Invoices for ten years, all else until you delete your account.',
  },
  {
    text: 'I was charged twice for order 3308.',
    intent: 'refund',
    answer: 'One of the two charges was a reservation; it ends tomorrow.',
  },
  {
    text: 'Which cup holds exactly 250 ml?',
    intent: 'product',
    answer: 'The cup "Alba" holds 250 ml up to its line.',
  },
  {
    text: 'Do you send to Norway?',
    intent: 'other',
    answer: 'Yes, for $12.00, in four to six days.',
  },
  {
    text: 'My parcel shows no news for five days.',
    intent: 'order',
    answer: 'It waits at customs. I have asked the carrier and write to you tomorrow.',
  },
  {
    text: 'Can I return a plate that I used once?',
    intent: 'refund',
    answer: 'Within 30 days, yes. The label is in your mail.',
  },
  {
    text: 'Does the glaze contain lead?',
    intent: 'product',
    answer: 'No. The report of the laboratory is on the page of each product.',
  },
  {
    text: 'May I visit the workshop?',
    intent: 'other',
    answer: 'Every first Saturday at 10:00; please tell us two days before.',
  },
]

export const TOOLS = [
  {
    type: 'function',
    function: {
      name: 'search_orders',
      description: 'Finds an order by its number.',
      parameters: { type: 'object', properties: { number: { type: 'integer' } } },
    },
  },
  {
    type: 'function',
    function: {
      name: 'refund',
      description: 'Pays money back.',
      parameters: {
        type: 'object',
        properties: { order: { type: 'integer' }, usd: { type: 'number' } },
      },
    },
  },
] as const

/** The code of the agent in its two versions. */
export const AGENT_CODE = [
  `@weave.op
def support_agent(question: str, customer: str) -> str:
    plan = chat(MODEL, [SYSTEM, user(question)], tools=TOOLS)
    results = [run_tool(call) for call in plan.tool_calls]
    return chat(MODEL, [SYSTEM, user(question), *results]).content
`,
  `@weave.op
def support_agent(question: str, customer: str) -> str:
    plan = chat(MODEL, [SYSTEM, user(question)], tools=TOOLS)
    results = [retry(run_tool, call, tries=2) for call in plan.tool_calls]
    if any(failed(result) for result in results):
        return hand_over(question, customer)
    return chat(MODEL, [SYSTEM, user(question), *results]).content
`,
] as const

export const SYSTEM =
  'You answer customers of a shop for handmade ceramics. Be short and kind. Use the tools for orders and refunds.'
export const MODELS = ['gpt-4o-mini', 'claude-sonnet-4-5', 'gpt-4.1-mini'] as const
export const CUSTOMERS = ['ada', 'ben', 'chen', 'dara', 'emre', 'fay', 'goran', 'hana'] as const
