/** The tools of the Model Context Protocol. Each has a project, and the rights that the routes demand for it. */
import { z } from 'zod'
import { type Principal, requireAccess, type Scope } from '../../domain/access/permissions.ts'
import type { ReadCaller } from '../../domain/access/read-caller.ts'
import { callRef } from '../../domain/calls/call-ref.ts'
import { requireFeedbackRules } from '../../domain/feedback/feedback-rules.ts'
import { renderFeedback, resolveFeedback } from '../../domain/feedback/new-feedback.ts'
import { requireVendorRules } from '../../domain/feedback/vendor-rules.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { parseItem } from '../../http/body/parsing.ts'
import { newId } from '../../http/new-id.ts'
import { LooseFeedbackCreateRequest } from '../../schemas/feedback/feedback.ts'
import {
  AddFeedbackArguments,
  CallStatsArguments,
  ListEvaluationsArguments,
  ListObjectsArguments,
  ReadEvaluationArguments,
  ReadPromptArguments,
  ReadRowsArguments,
  ReadTraceArguments,
  RunPromptArguments,
  SearchCallsArguments,
} from '../../schemas/mcp/tool-arguments.ts'
import type { Stores } from '../../store/api/stores.ts'
import { listEvaluations, readEvaluation } from './evaluation-tools.ts'
import { type Complete, readPrompt, runPrompt } from './prompt-tools.ts'
import {
  listOfKind,
  type ReadOptions,
  readRows,
  readStats,
  readTrace,
  searchCalls,
  type ToolCaller,
} from './tool-reads.ts'

export interface ToolOptions extends ReadOptions, Pick<Stores, 'feedback'>, Pick<Clock, 'nowUs'> {
  readonly payloadBytesMax: number
}

/** What a request lends to a tool. */
export interface ToolContext {
  readonly principal: Principal | null
  /** Opens the caller of reads in a project. */
  openReader(project_id: string): ReadCaller
  readonly complete: Complete
}

type Run = (sent: unknown, context: ToolContext) => Promise<string>

interface Tool {
  /** As `tools/list` shows it. */
  readonly shown: object
  /** @returns text of JSON @throws ApiError */
  readonly run: Run
}

interface ToolSpec<Arguments extends { readonly project_id: string }> {
  readonly scope: Scope
  readonly description: string
  readonly schema: z.ZodType<Arguments>
  readonly run: (sent: Arguments, caller: ToolCaller, complete: Complete) => Promise<string>
}

/** Returns the tools by name. */
export function createTools(options: ToolOptions): ReadonlyMap<string, Tool> {
  const scope = 'traces:read'
  return new Map([
    toTool('search_calls', {
      scope,
      description: 'Search the traced calls of a project, the newest first.',
      schema: SearchCallsArguments,
      run: (sent, caller) => searchCalls(sent, caller, options),
    }),
    toTool('read_trace', {
      scope,
      description: 'Read the calls of a trace in order of their start, at most 200 at once.',
      schema: ReadTraceArguments,
      run: (sent, caller) => readTrace(sent, caller, options),
    }),
    toTool('call_stats', {
      scope,
      description:
        'Time-bucketed statistics of calls: counts, errors, latency, tokens and costs. Name at least one metric.',
      schema: CallStatsArguments,
      run: (sent, { reader }) => readStats(sent, reader, options),
    }),
    toTool('list_datasets', {
      scope,
      description: 'List the latest versions of the datasets of a project, the newest first.',
      schema: ListObjectsArguments,
      run: (sent, { reader }) => listOfKind('Dataset', sent, reader, options),
    }),
    toTool('read_rows', {
      scope,
      description: 'Read rows of a dataset.',
      schema: ReadRowsArguments,
      run: (sent) => readRows(sent, options),
    }),
    toTool('list_prompts', {
      scope,
      description: 'List the latest versions of the prompts of a project, the newest first.',
      schema: ListObjectsArguments,
      run: (sent, { reader }) => listOfKind('Prompt', sent, reader, options),
    }),
    ...promptTools(options),
    ...evaluationTools(options),
    toTool('add_feedback', {
      scope: 'traces:write',
      description: 'Store a score, a note or a reaction on a call.',
      schema: AddFeedbackArguments,
      run: (sent, { principal }) => addFeedback(sent, principal, options),
    }),
  ])
}

function promptTools(options: ToolOptions): [string, Tool][] {
  return [
    toTool('read_prompt', {
      scope: 'traces:read',
      description: 'Read a version of a prompt: latest, v and a number, an alias or a digest.',
      schema: ReadPromptArguments,
      run: (sent) => readPrompt(sent, options),
    }),
    toTool('run_prompt', {
      scope: 'inference',
      description:
        'Run a prompt on a model: a completion that costs what the model costs and is recorded as a call.',
      schema: RunPromptArguments,
      run: (sent, _caller, complete) => runPrompt(sent, options, complete),
    }),
  ]
}

function evaluationTools(options: ToolOptions): [string, Tool][] {
  return [
    toTool('list_evaluations', {
      scope: 'traces:read',
      description: 'List the runs of evaluations of a project, the newest first.',
      schema: ListEvaluationsArguments,
      run: (sent, caller) => listEvaluations(sent, caller, options),
    }),
    toTool('read_evaluation', {
      scope: 'traces:read',
      description: 'Read the scores of a run of an evaluation, summed up and example by example.',
      schema: ReadEvaluationArguments,
      run: (sent, caller) => readEvaluation(sent, caller, options),
    }),
  ]
}

function toTool<Arguments extends { readonly project_id: string }>(
  name: string,
  { scope, description, schema, run }: ToolSpec<Arguments>,
): [string, Tool] {
  const isRead = scope === 'traces:read'
  const shown = {
    name,
    description,
    inputSchema: z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }),
    annotations: {
      readOnlyHint: isRead,
      destructiveHint: false,
      openWorldHint: scope === 'inference',
    },
  }
  const runAllowed: Run = async (sent, { principal, openReader, complete }) => {
    const parsed = parseItem(schema, sent, true)
    const { project_id } = parsed
    const allowed = requireAccess(principal, scope, project_id)
    return run(parsed, { principal: allowed, reader: openReader(project_id) }, complete)
  }
  return [name, { shown, run: runAllowed }]
}

/** Spec: §4.1. */
async function addFeedback(
  { call_id, ...sent }: z.infer<typeof AddFeedbackArguments>,
  { svc_user_id }: Principal,
  { feedback, refScheme, payloadBytesMax, nowUs }: ToolOptions,
): Promise<string> {
  const weave_ref = callRef(refScheme, sent.project_id, call_id)
  const request = parseItem(LooseFeedbackCreateRequest, { ...sent, weave_ref }, true)
  requireFeedbackRules(request)
  requireVendorRules(request)
  const defaults = { id: newId(), svc_user_id, created_at_us: nowUs() }
  const created = resolveFeedback(request, defaults, payloadBytesMax)
  const { id, created_at } = renderFeedback(await feedback.createFeedback(created))
  return JSON.stringify({ id, created_at, weave_ref })
}
