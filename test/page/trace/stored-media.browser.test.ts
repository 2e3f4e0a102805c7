import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { basic } from '../../support/build-test-app.ts'
import { hasBrowser, openPage, PROJECT, recordCalls } from '../browser.ts'

/** One pixel. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe.skipIf(!hasBrowser)('media of Langfuse’s SDKs, on the page', () => {
  it('are shown as pictures in messages and in values, and a missing or large one with the reason', async () => {
    const app = await openPage()
    const { page, url, key } = app
    const sha256Hash = createHash('sha256').update(PICTURE).digest('base64')
    const id = sha256Hash.slice(0, 22).replaceAll('+', '-').replaceAll('/', '_')
    const named = (mediaId: string) =>
      `@@@langfuseMedia:type=image/png|id=${mediaId}|source=base64_data_uri@@@`
    const headers = { authorization: basic(key, PROJECT), 'content-type': 'application/json' }
    const media = { traceId: 't', field: 'input', contentType: 'image/png', sha256Hash }
    const announced = await fetch(`${url}/api/public/media`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ ...media, contentLength: PICTURE.length }),
    })
    const { uploadUrl } = (await announced.json()) as { uploadUrl: string }
    expect((await fetch(uploadUrl, { method: 'PUT', body: PICTURE })).status).toBe(200)

    const content = [{ type: 'image_url', image_url: { url: named(id) } }]
    const inputs = { messages: [{ role: 'user', content }] }
    const output = { found: named(id), lost: named('x'.repeat(22)) }
    await recordCalls(app, [{ id: 'a', inputs, output }])
    await page.goto(`${url}/${PROJECT}/weave/calls/a#key=${key}`)
    const pictures = page.getByAltText('picture of the trace')
    await expect.poll(() => pictures.count()).toBe(2)
    const width = () =>
      pictures
        .first()
        .evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)
    await expect.poll(width).toBe(1)
    await expect.poll(() => page.locator('main').textContent()).toContain('There is no such')
    // The length that the object states is not believed.
    const body = Buffer.alloc(16 * 1024 * 1024 + 1)
    await page.route('**/file/content', (route) => route.fulfill({ body }))
    await page.reload()
    await page.getByText('16,777,217 bytes, too large to be shown').first().waitFor()
    expect(await pictures.count()).toBe(0)
  })
})
