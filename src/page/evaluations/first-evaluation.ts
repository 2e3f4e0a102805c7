/** Shows how to start if nothing has been evaluated yet. */
import { html } from 'htm/preact'

export function FirstEvaluation({ project }: { readonly project: string }) {
  const text = `# pip install weave
# export WF_TRACE_SERVER_URL=${location.origin}/traces WANDB_BASE_URL=${location.origin} WANDB_API_KEY=wk_…
import asyncio, weave
weave.init("${project}")

@weave.op
def exact(expected: str, output: str) -> bool:
    return expected == output

@weave.op
def answer(question: str) -> str:
    return "Because."

examples = [{"question": "Why?", "expected": "Because."}]
asyncio.run(weave.Evaluation(dataset=examples, scorers=[exact]).evaluate(answer))`
  return html`<section class="first">
    <h2>No evaluations yet</h2>
    <p>An evaluation asks a model every question of a dataset and scores the answers. A first one in <b>${project}</b>:</p>
    <pre tabindex="0">${text}</pre>
  </section>`
}
