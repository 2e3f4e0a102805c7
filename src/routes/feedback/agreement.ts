/** How far raters agree. An addition to the spec. */
import { compareRaters, toSeries } from '../../domain/feedback/agreement.ts'
import { type RatedOptions, readRated } from '../../evaluators/rated-calls.ts'
import type { App } from '../../http/app-type.ts'
import { addProjectRead } from '../../http/project-routes.ts'
import { AgreementRequest, AgreementResponse } from '../../schemas/feedback/agreement.ts'

export async function agreementRoutes(app: App, options: RatedOptions): Promise<void> {
  addProjectRead(
    app,
    '/feedback/agreement',
    {
      tags: ['feedback'],
      operationId: 'compareRaters',
      summary:
        'Compare ratings of people with each other and with those of judges (addition to the spec).',
      body: AgreementRequest,
      response: AgreementResponse,
    },
    async (body, caller) => {
      const { feedback, is_complete } = await readRated(body, caller, options)
      return { ...compareRaters(toSeries(feedback, body), body), is_complete }
    },
  )
}
