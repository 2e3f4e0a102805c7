import { expect, it } from 'vitest'
import { findPort } from '../../support/find-port.ts'
import { spawnServer, TEST_KEY } from '../../support/spawn-server.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { hasBrowser, openTab, PROJECT } from '../browser.ts'

it.skipIf(!hasBrowser)(
  'a view says that the server is down, and fills itself when it is back',
  async () => {
    const environment = { WEFT_DATA_DIR: makeTempDir(), WEFT_PORT: String(await findPort()) }
    const { url, stop } = await spawnServer(environment)
    const page = await openTab()
    for (const view of ['objects', 'queues']) {
      await page.goto(`${url}/${PROJECT}/weave/${view}#key=${TEST_KEY}`)
      await page.getByText(`No ${view} yet`).waitFor()
    }
    const views = page.getByRole('navigation', { name: 'Views' })
    await views.getByRole('link', { name: 'Objects' }).click()
    await page.getByText('No objects yet').waitFor()
    await stop()
    await views.getByRole('link', { name: 'Queues' }).click()
    const words = 'The server does not answer. It is requested again every 3 seconds.'
    await page.getByRole('alert').getByText(words).waitFor()
    await spawnServer(environment)
    await page.getByText('No queues yet').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  },
)
