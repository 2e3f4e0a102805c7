/**
 * Pictures of the page's views, light and dark, of a demo project in a server of its own: those of the docs, or with
 * `--all` every view on a wide screen and on a phone. Needs a Chromium of the system, and a font with emoji.
 *
 * npm run screenshots
 * npm run screenshots -- --all --folder /tmp/shots
 * npm run screenshots -- --folder /tmp/shots --width 390 --height 844 --only home,people
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { startOwnServer } from '../src/demo/own-server.ts'
import { fillPictures } from './pictures/project.ts'
import { OTHERS, VIEWS, type View } from './pictures/views.ts'
import { readArguments, readCount } from './script-arguments.ts'
import { toSmallPng } from './small-png.ts'

/** Until charts are drawn and live views have settled, after the sign was seen. */
const SETTLE_MS = 700
/** A laptop and a phone. */
const SCREENS = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
] as const
const SCHEMES = ['light', 'dark'] as const

const { values } = readArguments({
  options: {
    all: { type: 'boolean', default: false },
    folder: { type: 'string', default: 'docs/screenshots' },
    width: { type: 'string', default: '1280' },
    height: { type: 'string', default: '720' },
    only: { type: 'string' },
    chromium: { type: 'string', default: '/usr/bin/chromium' },
  },
})

interface Shot {
  readonly view: View
  readonly scheme: (typeof SCHEMES)[number]
  readonly screen: { readonly width: number; readonly height: number }
  readonly file: string
}

/** The pictures to take. Only with `--all` their names have the width. */
function listShots(): readonly Shot[] {
  const one = { width: readCount(values.width), height: readCount(values.height) }
  const wanted = values.only?.split(',')
  const views = [...VIEWS, ...(values.all || wanted !== undefined ? OTHERS : [])]
  const chosen = views.filter(({ name }) => wanted?.includes(name) ?? true)
  return (values.all ? SCREENS : [one]).flatMap((screen) =>
    SCHEMES.flatMap((scheme) =>
      chosen.map((view) => {
        const parts = [view.name, ...(values.all ? [screen.width] : []), scheme]
        return { view, scheme, screen, file: `${parts.join('-')}.png` }
      }),
    ),
  )
}

const { url, key } = await startOwnServer()
const filled = await fillPictures(url, key)
mkdirSync(values.folder, { recursive: true })
const browser = await chromium.launch({
  executablePath: values.chromium,
  args: ['--no-sandbox'],
})
let failed = 0
for (const shot of listShots()) {
  const path = join(values.folder, shot.file)
  try {
    const png = toSmallPng(await takePicture(browser, shot))
    writeFileSync(path, png)
    console.log(`${path} ${(png.length / 1000).toFixed(0)} kB`)
  } catch (error) {
    failed += 1
    console.error(`${path}: ${(error as Error).message}`)
  }
}
await browser.close()
process.exit(failed > 0 ? 1 : 0)

async function takePicture(
  browser: Browser,
  { view: { path, sign, prepare }, scheme, screen }: Shot,
): Promise<Buffer> {
  const context = await browser.newContext({
    viewport: screen,
    colorScheme: scheme,
    timezoneId: 'UTC',
  })
  try {
    const page = await context.newPage()
    page.on('pageerror', ({ message }) => console.error(`${path(filled)}: ${message}`))
    await page.goto(`${url}${path(filled)}#key=${key}`)
    await page.locator(sign).first().waitFor()
    await prepare?.(page)
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
    return await page.screenshot()
  } finally {
    await context.close()
  }
}
