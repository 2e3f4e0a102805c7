/** The names of trained models in requests. Pure. */
import { isProjectId } from '../../schemas/shapes.ts'

/** The parts of a trained model's name. */
export interface TrainedModelName {
  /** Null: any project that the caller may use. */
  readonly project_id: string | null
  readonly name: string
  /** Null: the newest. */
  readonly step: number | null
}

const NAME =
  /^(?:[a-z][a-z0-9+.-]*:\/\/\/([^/]+\/[^/]+)\/)?([\w.-]{1,128})(?::step(0|[1-9]\d{0,14}))?$/

/**
 * Reads `<name>`, `<name>:step<n>` and both with `<scheme>:///<entity>/<project>/` before them; null for
 * any other text.
 *
 * Spec: §4.3 model (names of trained models not shown). Choice: the spellings of training clients, with
 * any scheme.
 */
export function parseTrainedModelName(text: string): TrainedModelName | null {
  const [isName, project, name = '', step] = NAME.exec(text) ?? []
  if (isName === undefined) return null
  if (project !== undefined && !isProjectId(project)) return null
  return { project_id: project ?? null, name, step: step === undefined ? null : Number(step) }
}

/** The name that pins a step. */
export function renderTrainedModelName(name: string, step: number): string {
  return `${name}:step${step}`
}
