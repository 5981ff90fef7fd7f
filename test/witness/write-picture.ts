import { writeFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

/** As WebP a picture takes a fifth of a PNG. */
export async function writePicture(page: Page, file: string): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 55 })
  await session.detach()
  writeFileSync(file, Buffer.from(data, 'base64'))
}
