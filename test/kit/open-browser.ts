import { existsSync } from 'node:fs'
import { after } from 'node:test'
import { type Browser, type BrowserContext, type Page, chromium } from 'playwright-core'

export interface KitBrowser {
  /** A page in a session of its own: nothing of the other pages' cookies. */
  readonly open: (url: string, size?: keyof typeof SIZES) => Promise<Page>
  /**
   * What pages have complained of since this was last asked: errors of the console, exceptions, breaches of the content
   * policy. With an expression only those that fit it.
   */
  readonly complaints: (expected?: RegExp) => readonly string[]
  /** All that this one has opened, but for a page that is kept. Pages that stay open go on asking the gateway. */
  readonly closePages: (kept?: Page) => Promise<void>
}

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
/** Long, so that a slow machine is not taken for a missing element. */
const WAIT_LIMIT_MS = 60_000
const SIZES = {
  wide: { width: 1440, height: 900 },
  narrow: { width: 360, height: 740 },
}

let running: Promise<Browser> | null = null

after(async () => {
  await (await running)?.close()
})

/** A real Chromium, as Debian and others package it: one for all test files of a process. */
export async function openBrowser(): Promise<KitBrowser> {
  const executablePath = process.env['CHROMIUM_BIN'] ?? '/usr/bin/chromium'
  if (!existsSync(executablePath))
    throw new Error(
      `The tests of the dashboard need Chromium, and there is none at ${executablePath}. Install it (Debian: apt-get install chromium) or set CHROMIUM_BIN.`,
    )
  running ??= chromium.launch({ executablePath, headless: true, args: FLAGS })
  const chrome = await running
  const complaints: string[] = []
  const contexts: BrowserContext[] = []
  return {
    open: async (url, size = 'wide') => {
      const context = await chrome.newContext({ viewport: SIZES[size] })
      contexts.push(context)
      context.setDefaultTimeout(WAIT_LIMIT_MS)
      const page = await context.newPage()
      page.on('pageerror', (error) => complaints.push(error.message))
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type()))
          complaints.push(`${message.text()} (${message.location().url})`)
      })
      await page.goto(url)
      return page
    },
    complaints: (expected = /^/) => {
      const told = complaints.splice(0)
      complaints.push(...told.filter((text) => !expected.test(text)))
      return told.filter((text) => expected.test(text))
    },
    closePages: async (kept) => {
      const closed = contexts.filter((context) => context !== kept?.context())
      contexts.splice(0, contexts.length, ...contexts.filter((one) => !closed.includes(one)))
      await Promise.all(closed.map((context) => context.close()))
    },
  }
}
