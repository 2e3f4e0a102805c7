/** Renders chat templates, which are programs in Jinja. A client's may loop for ever. */
import { Template } from '@huggingface/jinja'
import { ApiError, refuse } from '../../../errors.ts'

export type TemplateVariables = Readonly<Record<string, unknown>>

const REASON_CHARS_MAX = 200

/** @throws ApiError invalid_value for a template that cannot be parsed or does not take the variables */
export function renderClientTemplate(source: string, variables: TemplateVariables): string {
  return renderTemplate(parseTemplate(source), variables, 'chat_template')
}

/**
 * @param param - the field of the request that is at fault
 * @throws ApiError invalid_value
 */
export function renderTemplate(
  template: Template,
  variables: TemplateVariables,
  param: 'messages' | 'chat_template',
): string {
  try {
    return template.render(variables)
  } catch (cause) {
    const name = param === 'messages' ? 'The chat template of the model' : param
    const message = `${name} does not take this conversation.`
    throw new ApiError('invalid_value', { message, param, cause })
  }
}

function parseTemplate(source: string): Template {
  try {
    return new Template(source)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.slice(0, REASON_CHARS_MAX) : ''
    refuse('invalid_value', 'chat_template', `chat_template cannot be parsed: ${reason}`)
  }
}
