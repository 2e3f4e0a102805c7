/** Responses on the wire: the object, its output items, and the pages of its input. Additions to the spec. */
import { z } from 'zod'
import { optionalField } from '../../bounded-fields.ts'
import { PAGE_LIMIT_DEFAULT, PageQuery, pageOf } from '../../query/page-query.ts'

const text = () => z.string()

const OutputPart = z.looseObject({
  type: text().describe('output_text, refusal or reasoning_text.'),
  text: optionalField(text(), 'The text.'),
  refusal: optionalField(text(), 'Why the model refused.'),
  annotations: optionalField(z.array(z.looseObject({})), 'Always empty: nothing is cited.'),
  logprobs: optionalField(z.array(z.looseObject({})), 'One entry a token, where asked for.'),
})

/** An item that the model made: reasoning, a message, or the call of a function. */
const ResponseOutputItem = z
  .looseObject({
    type: text().describe('reasoning, message or function_call.'),
    id: text().describe('Id of the item, which contains the id of its response.'),
    status: optionalField(text(), 'in_progress, completed or incomplete.'),
    role: optionalField(text(), 'Of a message: assistant.'),
    content: optionalField(z.array(OutputPart), 'Parts of a message or of reasoning.'),
    summary: optionalField(z.array(z.looseObject({})), 'Of reasoning: always empty.'),
    call_id: optionalField(text(), 'Of a call: the id that its output repeats.'),
    name: optionalField(text(), 'Of a call: name of the function.'),
    arguments: optionalField(text(), 'Of a call: arguments as JSON text, as the model wrote them.'),
  })
  .meta({ id: 'ResponseOutputItem', description: 'An item of the output.' })

/** A response. */
export const ResponseObject = z
  .looseObject({
    id: text().describe('Id of the response, resp_ and 32 hexadecimal digits.'),
    object: z.literal('response').describe('Always response.'),
    created_at: z.number().describe('When it was created, seconds since the epoch.'),
    status: text().describe('in_progress, completed, incomplete, failed or cancelled.'),
    model: text().describe('The model, under the requested name.'),
    output: z.array(ResponseOutputItem).describe('The output items, in order.'),
    usage: optionalField(z.looseObject({}), 'Tokens that it used; null before its end.'),
    error: optionalField(z.looseObject({}), 'What broke it.'),
    incomplete_details: optionalField(z.looseObject({}), 'Why it is incomplete.'),
    previous_response_id: optionalField(text(), 'The response that it continues.'),
  })
  .meta({ id: 'ResponseObject', description: 'A response of a model.' })

/** One typed event of a stream. */
export const ResponseEvent = z
  .looseObject({
    type: text().describe('Type of the event, such as response.output_text.delta.'),
    sequence_number: z.int().describe('Sequence number of the event in its stream, from 0.'),
  })
  .meta({ id: 'ResponseEvent', description: 'A typed event of a streamed response.' })

export const ResponseParams = z.object({
  response_id: z.string().max(128).describe('Its id.'),
})

/** Query of `GET /v1/responses/{id}`. */
export const ResponseReadQuery = z.looseObject({
  stream: optionalField(z.string(), 'true is refused: a stored response is read at once.'),
})

export const ResponseDeleted = z.object({
  id: text().describe('Id of the deleted response.'),
  object: z.literal('response').describe('Always response.'),
  deleted: z.literal(true).describe('Always true.'),
})

/** Query of `GET /v1/responses/{id}/input_items`. */
export const InputItemsQuery = z.looseObject({
  after: PageQuery.shape.after,
  limit: PageQuery.shape.limit,
  order: z
    .enum(['asc', 'desc'], 'must be asc or desc')
    .optional()
    .describe(`Order of the items. Default desc; ${PAGE_LIMIT_DEFAULT} items per page.`)
    .meta({ default: 'desc' }),
})

export const InputItemsPage = pageOf(z.looseObject({}))
