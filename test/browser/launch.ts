/** Where Chromium is, and how tests start it. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/** CHROMIUM names another browser of the family. */
const executablePath = process.env.CHROMIUM ?? PLACES.find((path) => existsSync(path))

/** Whether tests are skipped for want of a browser; continuous integration must have one. */
export const noBrowser: boolean = executablePath === undefined && process.env.CI === undefined
export const browserTitle: string = noBrowser ? 'in Chromium (none found: install it, or name one in CHROMIUM)' : 'in Chromium'

export async function launch(): Promise<Browser> {
  if (executablePath === undefined) throw new Error(`there is no Chromium at ${PLACES.join(', ')}; install it, or name one in CHROMIUM`)
  return chromium.launch({ executablePath, args: FLAGS })
}
