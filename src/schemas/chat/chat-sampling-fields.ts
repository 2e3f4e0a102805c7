/**
 * Fields of a chat request that control sampling and the end of the completion. Defaults are described but never
 * filled in: a backend must see exactly what the client sent.
 */
import { z } from 'zod'
import {
  boundedInteger,
  boundedList,
  boundedMap,
  boundedNumber,
  boundedText,
  optionalField,
  optionalFlag,
  ruleError,
  wholeNumber,
} from '../bounded-fields.ts'

/** Bound of `seed` and `truncate_prompt_tokens`: 2^63 as a double prints it. Spec: §4.3, §8. */
export const INT64_BOUND = 9_223_372_036_854_776_000

/** Choices of one request. Limit: each needs a KV cache. */
const CHOICES_MAX = 128
/** Ranked alternatives per token. Limit: what engines allow by default. */
const TOP_LOGPROBS_MAX = 20
/** Stop strings of one request. Limit: each is searched for after every token. */
const STOPS_MAX = 64
const STOP_CHARS_MAX = 1_024
/** Token ids in one list. Limit: about one vocabulary. */
const TOKEN_IDS_MAX = 100_000
const BAD_WORDS_MAX = 1_000
const BAD_WORD_CHARS_MAX = 1_024

const tokenId = () => boundedInteger('a token id, 0 or more', { min: 0 })
const penalty = () => boundedNumber('a number from -2 to 2', { min: -2, max: 2 })
const logprobCount = () => wholeNumber(-1, TOP_LOGPROBS_MAX)
const stopText = () => boundedText({ min: 1, max: STOP_CHARS_MAX })

const PROBABILITY_FIELDS = {
  temperature: optionalField(
    boundedNumber('a number from 0 to 2', { min: 0, max: 2 }),
    'Randomness of the choice, 0 to 2; below 0.00001 the likeliest token is always taken.',
  ),
  top_p: optionalField(
    boundedNumber('a number above 0 and at most 1', { above: 0, max: 1 }),
    'Only the likeliest tokens whose probabilities sum up to this are eligible; above 0, to 1.',
  ),
  top_k: optionalField(
    boundedInteger('a whole number, -1 or more', { min: -1 }),
    'Only this many of the likeliest tokens are eligible; -1 and 0 mean all.',
  ),
  min_p: optionalField(
    boundedNumber('a number from 0 to 1', { min: 0, max: 1 }),
    'Least probability of an eligible token, relative to the likeliest one; 0 to 1.',
  ),
  frequency_penalty: optionalField(
    penalty(),
    'Taken from the logit of a token for each time it was generated; -2 to 2, default 0.',
    0,
  ),
  presence_penalty: optionalField(
    penalty(),
    'Taken once from the logit of a token that was generated; -2 to 2, default 0.',
    0,
  ),
  repetition_penalty: optionalField(
    boundedNumber('a number above 0', { above: 0 }),
    'Factor against tokens of the prompt and the answer; above 0, above 1 discourages them.',
  ),
  logit_bias: optionalField(
    boundedMap(boundedNumber('a number'), { max: TOKEN_IDS_MAX }).refine(
      (biases) => Object.keys(biases).every((key) => /^\d{1,10}$/.test(key)),
      { error: 'must have token ids as its keys' },
    ),
    'Added to the logits of tokens: token id to a number; values are cut to -100..100.',
  ),
  seed: optionalField(
    wholeNumber(-INT64_BOUND, INT64_BOUND),
    'The same seed and request give the same answer where the backend can; a 64-bit integer.',
  ),
} as const

const LOGPROB_FIELDS = {
  logprobs: optionalFlag(
    'Whether the answer carries the log-probability of each of its tokens.',
    false,
  ),
  top_logprobs: optionalField(
    logprobCount(),
    `Ranked alternatives per token, 0 to ${TOP_LOGPROBS_MAX}, or -1 for the whole vocabulary where the model allows it; needs logprobs. Default 0.`,
    0,
  ),
  prompt_logprobs: optionalField(
    logprobCount(),
    `Log-probabilities of the prompt's tokens with this many alternatives, 0 to ${TOP_LOGPROBS_MAX}, or -1 for the whole vocabulary; not with streaming.`,
  ),
} as const

const ENDING_FIELDS = {
  max_tokens: optionalField(
    boundedInteger('a whole number, 1 or more', { min: 1 }),
    'Deprecated: use max_completion_tokens, which wins when both are given. Tokens, 1 or more.',
  ).meta({ deprecated: true }),
  max_completion_tokens: optionalField(
    boundedInteger('a whole number, 1 or more', { min: 1 }),
    'Most tokens of one choice, 1 or more; what the context leaves free when absent.',
  ),
  min_tokens: optionalField(
    boundedInteger('a whole number, 0 or more', { min: 0 }),
    'Tokens that are generated before anything may end the answer. Default 0.',
    0,
  ),
  stop: optionalField(
    z.union(
      [stopText(), boundedList(stopText(), { max: STOPS_MAX })],
      ruleError(`a string or a list of at most ${STOPS_MAX} strings`),
    ),
    'Texts that end the answer: a list, or one text by itself. Default: none.',
    [],
  ),
  stop_token_ids: optionalField(
    boundedList(tokenId(), { max: TOKEN_IDS_MAX }),
    'Ids of tokens that end the answer.',
  ),
  include_stop_str_in_output: optionalFlag(
    'Whether the text that ended the answer stays in it.',
    false,
  ),
  ignore_eos: optionalFlag(
    "Whether generation goes on past the model's end-of-sequence token.",
    false,
  ),
} as const

const VOCABULARY_FIELDS = {
  allowed_token_ids: optionalField(
    boundedList(tokenId(), { min: 1, max: TOKEN_IDS_MAX }),
    'Only these tokens may be generated; an empty list is refused.',
  ),
  bad_words: optionalField(
    boundedList(boundedText({ min: 1, max: BAD_WORD_CHARS_MAX }), { max: BAD_WORDS_MAX }),
    'Texts that may not be generated, neither at the start of a word nor after a space.',
  ),
} as const

const SEARCH_FIELDS = {
  n: optionalField(
    wholeNumber(1, CHOICES_MAX),
    `Choices to generate, 1 to ${CHOICES_MAX}; the beam width of a beam search. Default 1.`,
    1,
  ),
  use_beam_search: optionalFlag(
    'Whether the likeliest whole answers are searched for, in place of sampling.',
    false,
  ),
  length_penalty: optionalField(
    boundedNumber('a number'),
    'Exponent of the length by which beam scores are divided. Default 1.',
    1,
  ),
} as const

/** Spec: §4.3. Choice: ranges that the spec leaves open are those of common engines. */
export const SAMPLING_FIELDS = {
  ...PROBABILITY_FIELDS,
  ...LOGPROB_FIELDS,
  ...ENDING_FIELDS,
  ...VOCABULARY_FIELDS,
  ...SEARCH_FIELDS,
} as const
