/**
 * Fields of a chat request that shape the prompt: the chat template, documents, tokens around it.
 * `add_generation_prompt` and `continue_final_message` must stay absent when the client left them
 * out: whether they were set decides if they contradict each other.
 */
import { z } from 'zod'
import {
  boundedList,
  boundedObject,
  boundedText,
  flag,
  optionalField,
  optionalFlag,
  ruleError,
  wholeNumber,
} from '../bounded-fields.ts'
import { INT64_BOUND } from './chat-sampling-fields.ts'

const DOCUMENTS_MAX = 1_000
/** Limit: three times the longest templates of published models. */
const CHAT_TEMPLATE_CHARS_MAX = 65_536
/** Keys of a free-form object. */
export const EXTRA_KEYS_MAX = 256

const ChatDocument = z.looseObject(
  {
    title: z.unknown().optional().describe('Title of the document.'),
    text: z.unknown().optional().describe('Text of the document.'),
  },
  ruleError('an object'),
)

/** Spec: §4.3. Choice: bounds on sizes; the spec shows none. */
export const PROMPT_FIELDS = {
  echo: optionalFlag(
    'Whether the answer opens with the last message when both have the same role.',
    false,
  ),
  add_generation_prompt: optionalField(
    flag(),
    'Whether the template opens the turn of the assistant. Default true, and false when only continue_final_message is set.',
    true,
  ),
  continue_final_message: optionalFlag(
    'Whether the final message is left open and the model goes on with it (prefill); not together with add_generation_prompt.',
    false,
  ),
  add_special_tokens: optionalFlag(
    'Whether special tokens, as one that begins a sequence, are added to what the template adds.',
    false,
  ),
  documents: optionalField(
    boundedList(ChatDocument, { max: DOCUMENTS_MAX }),
    'Documents that the model may draw on; each should have title and text. Without effect when the template does not use them.',
  ),
  chat_template: optionalField(
    boundedText({ max: CHAT_TEMPLATE_CHARS_MAX }),
    "Jinja template for this conversation, in place of the model's own.",
  ),
  chat_template_kwargs: optionalField(
    boundedObject(EXTRA_KEYS_MAX),
    'Further variables for the template.',
  ),
  mm_processor_kwargs: optionalField(
    boundedObject(EXTRA_KEYS_MAX),
    'Further arguments for the processor of images, audio and video.',
  ),
  truncate_prompt_tokens: optionalField(
    wholeNumber(-1, INT64_BOUND),
    'Only this many of the last prompt tokens are kept; -1 keeps what fits beside the answer, 0 keeps none.',
  ),
  skip_special_tokens: optionalFlag('Whether special tokens are left out of the answer.', true),
  spaces_between_special_tokens: optionalFlag(
    'Whether special tokens in the answer are set apart by spaces.',
    true,
  ),
} as const
