/** What the answer to a batch says of items that failed alone. An addition to the spec. */
import { z } from 'zod'
import type { ApiError } from '../errors.ts'

const fault = {
  code: z.string().describe('Stable code of the error.'),
  message: z.string().describe('Message for people.'),
  param: z
    .string()
    .nullable()
    .describe('Path of the invalid field, such as `batch[3].payload.note`.'),
}
const index = z.int().describe('Index of the item in the batch, from 0.')

/** In the place of an item's result. */
export const RefusedItem = z.object({
  error: z.object(fault).describe('Why the item was not stored.'),
  index,
})
export type RefusedItem = z.infer<typeof RefusedItem>

/** In the list of all that failed. */
export const BatchItemError = z.object({ index, ...fault })
export type BatchItemError = z.infer<typeof BatchItemError>

/** What is told of an item, with the place in the whole body. */
export function toRefusedItem(place: number, { code, message, param }: ApiError): RefusedItem {
  const at = `batch[${place}]`
  return { error: { code, message, param: param ? `${at}.${param}` : at }, index: place }
}
