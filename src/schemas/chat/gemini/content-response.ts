/** Responses of the Gemini API as its clients read them, for the OpenAPI document. */
import { z } from 'zod'

const Candidate = z.looseObject({
  index: z.int().describe('Number of the candidate, from 0.'),
  content: z
    .looseObject({
      role: z.literal('model').describe('Always model.'),
      parts: z.array(z.looseObject({})).describe('Texts, thoughts and calls of functions.'),
    })
    .describe('What the model says.'),
  finishReason: z.string().optional().describe('STOP, MAX_TOKENS, SAFETY or OTHER; last.'),
})

export const GenerateContentResponse = z
  .looseObject({
    candidates: z.array(Candidate).describe('The candidates.'),
    usageMetadata: z
      .looseObject({
        promptTokenCount: z.int().describe('Tokens of the input, cached ones included.'),
        candidatesTokenCount: z.int().describe('Tokens of the candidates, without thoughts.'),
        totalTokenCount: z.int().describe('All tokens.'),
      })
      .optional()
      .describe('Tokens of the response.'),
    modelVersion: z.string().describe('The model.'),
    responseId: z.string().describe('Id of the response.'),
  })
  .meta({
    id: 'GenerateContentResponse',
    description: 'A response of the Gemini API, or a part of it.',
  })

export const ContentTokenCount = z
  .looseObject({ totalTokens: z.int().describe('Tokens of the contents.') })
  .meta({ id: 'ContentTokenCount', description: 'A count of tokens.' })

export const GoogleError = z
  .object({
    error: z
      .looseObject({
        code: z.int().describe('Status of HTTP.'),
        message: z.string().describe('Why the request failed.'),
        status: z.string().describe('INVALID_ARGUMENT, NOT_FOUND, RESOURCE_EXHAUSTED, ...'),
      })
      .describe('The error.'),
  })
  .meta({ id: 'GoogleError', description: 'An error in the format of the Gemini API.' })
