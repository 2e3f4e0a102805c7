/** Training data in the formats of other trainers, an addition to the spec. Spec: §2.12. */
import { z } from 'zod'
import { ruleError } from '../bounded-fields.ts'
import { SplitPart, TRAJECTORY_SOURCE } from './trajectory-from-calls.ts'

/** Formats, each the lines of one JSONL file. */
export const EXPORT_FORMATS = [
  'trl_grpo',
  'trl_sft',
  'trl_dpo',
  'openai_sft',
  'openai_dpo',
  'openai_rft',
  'art',
  'verifiers',
] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export const TrainingExportRequest = z
  .strictObject({
    ...TRAJECTORY_SOURCE,
    part: SplitPart,
    format: z
      .enum(EXPORT_FORMATS, ruleError(`one of ${EXPORT_FORMATS.join(', ')}`))
      .describe('What the lines are for.'),
    reward_min: z
      .number()
      .nullish()
      .describe(
        'Of `trl_sft` and `openai_sft`: all responses with at least this reward. Default: the best one of each group.',
      ),
  })
  .meta({ id: 'TrainingExportRequest', description: 'Which training data, in which format.' })
export type TrainingExportRequest = z.output<typeof TrainingExportRequest>
