/** The one body of every error. Spec: §7 row 4. */
import { z } from 'zod'

/** Spec: §7 row 4 (shape not shown). Choice: the shape that OpenAI clients read. */
export const ErrorAnswer = z
  .object({
    error: z
      .object({
        message: z.string().describe('What is wrong, for people.'),
        type: z.string().describe('Coarse class, as invalid_request_error.'),
        param: z.string().nullable().describe('Dotted path of the field at fault, if any.'),
        code: z.string().describe('Stable name of the error, for programs.'),
      })
      .describe('The error.'),
  })
  .meta({ id: 'ErrorAnswer', description: 'An error; the same shape on every route.' })
