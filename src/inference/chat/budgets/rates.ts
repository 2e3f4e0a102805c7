/** What a token of a model costs at most and as a rule, read once for many requests. */
import { atomsToNanos } from '../../../domain/access/budgets.ts'
import type { PriceTable, UnitPrice, UnitPrices } from '../../../domain/prices/price-table.ts'
import type { Measured } from '../../../domain/stats/exact-sum.ts'

/** A price of an input and of an output token. */
interface Rate {
  readonly input: bigint
  readonly output: bigint
}

/** The prices of a model in a project: the dearest that may apply, and the usual ones. */
export interface Rates {
  readonly table: PriceTable
  readonly most: Rate
  readonly base: Rate
}

export interface Tokens {
  readonly input: number
  readonly output: number
}

/** The cost of tokens in 10^-9 dollars. */
export function costOf({ input, output }: Rate, tokens: Tokens): number {
  return atomsToNanos(BigInt(tokens.input) * input + BigInt(tokens.output) * output)
}

export function toRates(table: PriceTable, prices: UnitPrices): Rates {
  const most = (
    units: readonly (UnitPrice | undefined)[],
    priceOf: (unit: UnitPrice) => Measured,
  ) =>
    units
      .flatMap((unit) => (unit === undefined ? [] : [BigInt(priceOf(unit))]))
      .reduce((left, right) => (left > right ? left : right), 0n)
  const { input, cacheCreation, cacheCreation1h, inputAudio, inputImage } = prices
  const { output, reasoning, outputAudio, outputImage } = prices
  const inputs = [input, cacheCreation, cacheCreation1h, inputAudio, inputImage]
  const outputs = [output, reasoning, outputAudio, outputImage]
  const baseOf = ({ base }: UnitPrice) => base
  return {
    table,
    most: { input: most(inputs, dearest), output: most(outputs, dearest) },
    base: { input: most([input], baseOf), output: most([output], baseOf) },
  }
}

function dearest({ base, tiers }: UnitPrice): Measured {
  return [base, ...tiers.map(({ price }) => price)].reduce((left, right) =>
    left > right ? left : right,
  )
}
