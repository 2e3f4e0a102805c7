/** Errors of single items in the response to a batch. An addition to the spec. */
import { z } from 'zod'

const fault = {
  code: z.string().describe('Stable code of the error.'),
  message: z.string().describe('Message for people.'),
  param: z
    .string()
    .nullable()
    .describe('Path of the invalid field, such as `batch[3].project_id`.'),
}
const index = z.int().describe('Index of the item in the batch, from 0.')

/** Replaces the result of a failed item. */
export const RefusedItem = z.object({
  error: z.object(fault).describe('Why the item was not stored.'),
  index,
})
export type RefusedItem = z.infer<typeof RefusedItem>

/** An entry in the list of failed items. */
export const BatchItemError = z.object({ index, ...fault })
export type BatchItemError = z.infer<typeof BatchItemError>

/** Returns the error of an item, with its path in the whole body. */
export function toRefusedItem(at: number, fault: RefusedItem['error']): RefusedItem {
  const { code, message, param } = fault
  const path = `batch[${at}]`
  return { error: { code, message, param: param ? `${path}.${param}` : path }, index: at }
}
