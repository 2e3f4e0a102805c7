/** The capabilities of models (chats, embeddings and so on), and the error for a model that lacks one. */
import { ApiError } from '../../errors.ts'
import type { Capability } from '../backend.ts'
import { GUARDED } from '../chat/guard/guard-callback.ts'
import type { ModelRegistry, ServedModel } from './registry.ts'

/** Limit: models named in an error message. */
const NAMED_MAX = 5

const CHAT_ALONE: readonly Capability[] = ['chat']

/** In the order of the endpoints. */
export function listOffers({ offers, backend, guard }: ServedModel): readonly Capability[] {
  const all = offers ?? backend.offers ?? CHAT_ALONE
  return guard === undefined ? all : all.filter((name) => GUARDED.includes(name))
}

/**
 * Checks that a model offers what a request needs.
 *
 * @param models - searched for alternatives to name in the error
 * @throws ApiError capability_missing
 */
export function requireOffered(
  model: ServedModel,
  wanted: Capability,
  models: ModelRegistry | null = null,
): void {
  const offers = listOffers(model)
  if (offers.includes(wanted)) return
  const others = models?.listEntries().flatMap(({ id }) => {
    return listOffers(models.getModel(id)).includes(wanted) ? [`\`${id}\``] : []
  })
  const way =
    others === undefined
      ? ''
      : others.length === 0
        ? ` No model of this server does; a model of the models file may, by its \`capabilities\`.`
        : ` Models that do: ${others.slice(0, NAMED_MAX).join(', ')}.`
  const message = `The model \`${model.id}\` does not offer ${wanted}, only ${offers.join(', ')}.${way}`
  throw new ApiError('capability_missing', { param: 'model', message })
}
