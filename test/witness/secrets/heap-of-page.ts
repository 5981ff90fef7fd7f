import type { Page } from 'playwright-core'

/** A heap snapshot of a page of Chromium, after a garbage collection, and what its document and storage contain. */
export async function heapOfPage(page: Page): Promise<ReadonlyMap<string, string>> {
  const session = await page.context().newCDPSession(page)
  const parts: string[] = []
  session.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => parts.push(chunk))
  await session.send('HeapProfiler.enable')
  // What the first collection finalizes, the second frees.
  await session.send('HeapProfiler.collectGarbage')
  await session.send('HeapProfiler.collectGarbage')
  await session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false })
  await session.detach()
  const stored = await page.evaluate(
    'JSON.stringify([localStorage, sessionStorage, document.cookie, location.href, history.state, document.title])',
  )
  const fields = await page.evaluate(
    'JSON.stringify([...document.querySelectorAll("input, textarea, select")].map(({ value }) => value))',
  )
  return new Map([
    ['heap', parts.join('')],
    ['document', await page.content()],
    ['storage', String(stored)],
    ['fields', String(fields)],
  ])
}
