/** Data that a walk over calls joins to them: feedback, and the values of refs. */
import type { CallJoins } from '../../../../domain/calls/call-fields.ts'
import type { CallsSelection } from '../../../../domain/calls/calls-query.ts'
import { toExpansion } from '../../../../domain/calls/expand-columns.ts'
import { layerPrices } from '../../../../domain/prices/project-prices.ts'
import type { Connection } from '../../db/connection.ts'
import { createRefValues } from '../../objects/ref-values.ts'
import { createFeedbackAhead, type FeedbackAhead } from './feedback-ahead.ts'

export function createCallJoins(
  db: Connection,
  { expanded, reach, prices }: Pick<CallsSelection, 'expanded' | 'reach' | 'prices'>,
): CallJoins & Pick<FeedbackAhead, 'expect'> {
  return {
    ...createFeedbackAhead(db, reach.refScheme),
    expanded: toExpansion(expanded),
    readRef: createRefValues(db, reach.projects),
    prices: prices && layerPrices(prices),
    payloads: new WeakMap(),
  }
}
