/**
 * Trajectories of a training job: messages, choices and rewards. Bodies are large, so every list stops at its first
 * faults, and no fault repeats text. Unknown keys are retained everywhere.
 */

import { z } from 'zod'
import {
  addIssue,
  boundedInteger,
  boundedList,
  boundedNumber,
  boundedObject,
  boundedText,
  describeJson,
  flag,
  ruleError,
} from '../bounded-fields.ts'
import { CONTENT_PARTS_MAX, ContentPart } from '../chat/chat-message.ts'
import { Timestamp } from '../primitives.ts'
import { isTrajectoryChoice } from './trajectory-choice.ts'

/** Limit: messages of one history; an agent run of a day has some thousands. */
const HISTORY_ITEMS_MAX = 10_000
/** Limit: tokens of one choice with logprobs; the longest context windows are of this size. */
const LOGPROBS_MAX = 1_000_000
/** Limit: choices of one recorded response; requests may ask for 128. */
const EXCHANGE_CHOICES_MAX = 1_000
/** Limit: further histories, log lines, and keys of metrics or metadata of one trajectory. */
const TRAJECTORY_ENTRIES_MAX = 10_000
const TOOLS_MAX = 512
const TOP_LOGPROBS_MAX = 1_000
const BYTES_MAX = 4_096
const NAME_CHARS_MAX = 256
const SHORT_TEXT_CHARS_MAX = 64

/** Roles whose messages must have content. */
const ROLES_WITH_CONTENT: readonly unknown[] = ['developer', 'system', 'user', 'tool']

const string = z.string(ruleError('a string'))
const number = boundedNumber('a finite number')

const content = z
  .union(
    [z.string(), boundedList(ContentPart, { max: CONTENT_PARTS_MAX })],
    ruleError(`a string or a list of at most ${CONTENT_PARTS_MAX} content parts`),
  )
  .nullish()
  .describe('Content: a string, a list of content parts, or null.')

const TrajectoryMessage = z
  .looseObject(
    {
      role: boundedText({ min: 1, max: SHORT_TEXT_CHARS_MAX }).describe('Role of the speaker.'),
      content,
      name: string.nullish().describe('Name of the speaker.'),
      tool_call_id: string.nullish().describe('Id of the tool call that a tool message answers.'),
      tool_calls: boundedList(z.looseObject({}, ruleError('an object')), { max: TOOLS_MAX })
        .nullish()
        .describe('Tool calls of an assistant message.'),
    },
    ruleError('an object with a role'),
  )
  .check((context) => {
    const { role, content: said } = context.value
    if (!ROLES_WITH_CONTENT.includes(role) || (said !== undefined && said !== null)) return
    const message = 'must be given for this role'
    addIssue(context, { code: 'custom', path: ['content'], message })
  })
  .meta({ id: 'TrajectoryMessage', description: 'A message of a history.' })

const TokenLogprob = z.looseObject(
  {
    token: string.describe('The token, or `token_id:<id>`.'),
    logprob: number.describe('Its log probability when it was sampled.'),
    bytes: boundedList(boundedInteger('a byte', { min: 0, max: 255 }), { max: BYTES_MAX })
      .nullish()
      .describe('UTF-8 bytes of the token.'),
    top_logprobs: boundedList(z.looseObject({}, ruleError('an object')), { max: TOP_LOGPROBS_MAX })
      .nullish()
      .describe('The likeliest tokens at this position.'),
  },
  ruleError('an object with token and logprob'),
)

const tokenLogprobs = boundedList(TokenLogprob, { max: LOGPROBS_MAX }).nullish()

const TrajectoryChoice = z
  .looseObject(
    {
      finish_reason: boundedText({ min: 1, max: SHORT_TEXT_CHARS_MAX }).describe(
        'Why the model stopped: stop, length, tool_calls, ...',
      ),
      index: boundedInteger('a whole number from 0', { min: 0 }).describe('Index of the choice.'),
      message: z
        .looseObject(
          {
            role: z.literal('assistant').describe('Always assistant.'),
            content,
          },
          ruleError('an object with the role assistant'),
        )
        .describe('The message of the model.'),
      logprobs: z
        .looseObject(
          {
            content: tokenLogprobs.describe('Log probabilities of the content.'),
            refusal: tokenLogprobs.describe('Log probabilities of the refusal.'),
          },
          ruleError('an object or null'),
        )
        .nullish()
        .describe('Log probabilities of the sampled tokens.'),
    },
    ruleError('a choice'),
  )
  .meta({ id: 'TrajectoryChoice', description: 'A choice of a model, which is trained on.' })

const HistoryItem = z
  .looseObject({}, ruleError('a message or a choice'))
  .check((context) => {
    const item = context.value
    const isChoice = isTrajectoryChoice(item)
    if (!isChoice && !Object.hasOwn(item, 'role')) {
      const message = 'must be a message with a role or a choice with finish_reason and message'
      addIssue(context, { code: 'custom', message })
      return
    }
    const result = (isChoice ? TrajectoryChoice : TrajectoryMessage).safeParse(item)
    for (const issue of result.error?.issues ?? []) addIssue(context, issue)
  })
  .meta({ anyOf: [describeJson(TrajectoryMessage), describeJson(TrajectoryChoice)] })

const messagesAndChoices = boundedList(HistoryItem, { max: HISTORY_ITEMS_MAX }).describe(
  'Messages, which are context, and choices of the model, which are trained on; none if absent.',
)

const TrajectoryTool = z.looseObject(
  {
    type: string.describe('Kind of the tool, as function.'),
    function: z
      .looseObject(
        {
          name: boundedText({ min: 1, max: NAME_CHARS_MAX }).describe('Name of the function.'),
          description: string.nullish().describe('Description of the function.'),
          parameters: z
            .looseObject({}, ruleError('an object'))
            .nullish()
            .describe('JSON Schema of its arguments.'),
          strict: flag().nullish().describe('Whether arguments follow the schema exactly.'),
        },
        ruleError('an object with a name'),
      )
      .describe('The function.'),
  },
  ruleError('an object with type and function'),
)

const tools = boundedList(TrajectoryTool, { max: TOOLS_MAX })
  .nullish()
  .describe('Tools that the model could call; null is the same as none.')

const TrajectoryHistory = z.looseObject(
  { messages_and_choices: messagesAndChoices, tools },
  ruleError('an object with messages_and_choices'),
)

const ChatExchange = z.looseObject(
  {
    model: string.nullish().describe('Model that was requested.'),
    request: z
      .looseObject(
        {
          messages: boundedList(TrajectoryMessage, { max: HISTORY_ITEMS_MAX }).describe(
            'Messages of the request, which are context.',
          ),
          model: string.nullish().describe('Model that was requested.'),
          tools,
        },
        ruleError('an object with messages'),
      )
      .describe('The body of the request.'),
    response: z
      .looseObject(
        {
          choices: boundedList(TrajectoryChoice, { max: EXCHANGE_CHOICES_MAX }).describe(
            'Choices of the model, which are trained on.',
          ),
          model: string.nullish().describe('Model that responded.'),
        },
        ruleError('an object with choices'),
      )
      .describe('The body of the response.'),
  },
  ruleError('an object with request and response'),
)

type ChatExchange = z.infer<typeof ChatExchange>

/** Exchanges of another API, of which the tokens to train on are not known. */
const noExchanges = z
  .array(z.unknown(), ruleError('a list'))
  .max(0, 'must be empty: only exchanges of chat_completions can be trained on')
  .optional()
  .describe('Empty: the tokens of these exchanges are not known.')

/**
 * The calls of a rollout as a client recorded them, instead of histories.
 *
 * Spec: §2.12 (no such field). Choice: published clients send it (openpipe-art 0.5.23); the exchanges of one
 * trajectory are of one model, because the token ids of another model mean other tokens.
 */
const TrajectoryExchanges = z
  .looseObject(
    {
      chat_completions: boundedList(ChatExchange, { max: HISTORY_ITEMS_MAX })
        .optional()
        .describe('Chat completions in their order.'),
      completions: noExchanges,
      responses: noExchanges,
      messages: noExchanges,
    },
    ruleError('an object with chat_completions'),
  )
  .check((context) => {
    // The list still contains entries with faults.
    const exchanges: readonly (Partial<ChatExchange> | null)[] =
      context.value.chat_completions ?? []
    const models = new Set(exchanges.map((entry) => entry?.model ?? entry?.request?.model))
    if (models.size <= 1) return
    const message = 'must be of one model: a trajectory of its own is needed for each other model'
    addIssue(context, { code: 'custom', path: ['chat_completions'], message })
  })

const policyVersion = boundedInteger('a whole number from 0', {
  min: 0,
  max: Number.MAX_SAFE_INTEGER,
}).nullish()

/**
 * One rollout with its reward.
 *
 * Spec: §2.12 trajectory fields.
 * Choice: no field is required, because published clients leave out each field that has its default: an absent
 * reward is 0, and absent messages_and_choices are none. tools and the two versions may be null.
 */
export const Trajectory = z
  .looseObject(
    {
      messages_and_choices: messagesAndChoices.optional(),
      exchanges: TrajectoryExchanges.optional().describe(
        'Requests and responses of the rollout, instead of messages_and_choices (addition to the spec).',
      ),
      tools,
      additional_histories: boundedList(TrajectoryHistory, { max: TRAJECTORY_ENTRIES_MAX })
        .optional()
        .describe('Further histories of the same rollout, which share its reward.'),
      reward: number.optional().describe('Reward of the rollout; any finite number, 0 if absent.'),
      initial_policy_version: policyVersion.describe('Step of the model when the rollout began.'),
      final_policy_version: policyVersion.describe('Step of the model when the rollout ended.'),
      metrics: boundedObject(TRAJECTORY_ENTRIES_MAX)
        .optional()
        .describe('Metrics of the rollout by name.'),
      metadata: boundedObject(TRAJECTORY_ENTRIES_MAX)
        .optional()
        .describe('Arbitrary metadata of the rollout.'),
      logs: boundedList(string, { max: TRAJECTORY_ENTRIES_MAX })
        .optional()
        .describe('Log lines of the rollout.'),
      start_time: Timestamp.optional().describe('When the rollout began.'),
    },
    ruleError('an object with messages_and_choices and reward'),
  )
  .check((context) => {
    const {
      exchanges,
      messages_and_choices: items,
      tools: own,
      additional_histories: more,
    } = context.value
    if (!exchanges?.chat_completions?.length) return
    if (!items?.length && !more?.length && !own) return
    const message =
      'must not be given together with messages_and_choices, tools or additional_histories'
    addIssue(context, { code: 'custom', path: ['exchanges'], message })
  })
  .meta({ id: 'Trajectory', description: 'One rollout with its reward.' })
export type Trajectory = z.infer<typeof Trajectory>
