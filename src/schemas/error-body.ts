/** The one body of every error. Spec: §7 row 4. */
import { z } from 'zod'

/** Spec: §7 row 4 (shape not shown). Choice: the shape that OpenAI clients read. */
export const ErrorResponse = z
  .object({
    error: z
      .object({
        message: z.string().describe('Message for people.'),
        type: z.string().describe('Class of the error, such as invalid_request_error.'),
        param: z.string().nullable().describe('Dotted path of the invalid field, if any.'),
        code: z.string().describe('Stable code of the error, for programs.'),
      })
      .describe('The error.'),
  })
  .meta({ id: 'ErrorResponse', description: 'An error; the same shape on every route.' })
