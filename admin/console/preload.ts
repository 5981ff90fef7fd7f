/**
 * Begins to load the scripts of the page in the address beside those of the console itself, since a slow line would otherwise wait for
 * one after the other. The build writes a link without `rel` for each of them.
 */
const PARTS: readonly (readonly [pages: RegExp, part: string])[] = [
  [/^#\/activity/, 'log'],
  [/^#\/(alerts|anomalies|security)/, 'watch'],
  [/^#\/activity\/./, 'entry-detail'],
  [/^#\/(kills|webhooks|settings)/, 'operation'],
  [/^#\/(agents|integrations|connect|scopes|map|flow|requests|try)/, 'access'],
]

for (const [pages, part] of PARTS)
  if (pages.test(location.hash))
    for (const link of document.querySelectorAll<HTMLLinkElement>(`link[data-of~="${part}"]`))
      link.rel = 'modulepreload'
