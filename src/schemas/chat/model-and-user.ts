/** Fields of all requests to models: the model and the user. Spec: §4.3 model, user. */
import { boundedText, optionalField } from '../bounded-fields.ts'

export const MODEL_CHARS_MAX = 512
const USER_CHARS_MAX = 1_024

export const userText = () => boundedText({ max: USER_CHARS_MAX })

export const model = optionalField(
  boundedText({ max: MODEL_CHARS_MAX }),
  'Id or alias of the model; the default model of the server when absent.',
)
export const user = optionalField(userText(), 'Who the request is made for.')
