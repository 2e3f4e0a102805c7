/** The tokens of an answer, each coloured by how likely it was. */
import { html } from 'htm/preact'
import type { TokenLogprob } from './completion.ts'

/** Lower bounds of the levels of probability; the last level is the most likely. */
const LEVELS = [0.1, 0.4, 0.7, 0.95]

export function Tokens({ logprobs }: { readonly logprobs: readonly TokenLogprob[] }) {
  return html`<p class="tokens" aria-label="Tokens by probability">
      ${logprobs.map((token, at) => html`<${Token} key=${at} token=${token} />`)}
    </p>
    <p class="faint">Probability of each token: ${LEVELS.map((from, level) => html`<span key=${level} class="token" data-level=${level}>below ${100 * from} %</span> `)}
      <span class="token" data-level=${LEVELS.length}>above</span></p>`
}

function Token({ token: { token, logprob, top_logprobs = [] } }: { readonly token: TokenLogprob }) {
  const level = LEVELS.filter((from) => Math.exp(logprob) >= from).length
  const others = top_logprobs.map(
    (other) => `${JSON.stringify(other.token)} ${percentOf(other.logprob)}`,
  )
  const title = [`${JSON.stringify(token)} ${percentOf(logprob)}`, ...others].join('\n')
  return html`<span class="token" data-level=${level} title=${title}>${token}</span>`
}

function percentOf(logprob: number): string {
  return `${(100 * Math.exp(logprob)).toFixed(1)} %`
}
