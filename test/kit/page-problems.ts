import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8')

export async function problemsOf(on: Page, rules = ''): Promise<string[]> {
  // Half a megabyte of script, once for each load of the page.
  if (await on.evaluate("typeof axe === 'undefined'")) await on.evaluate(AXE)
  const problems = await on.evaluate(
    `axe.run(document, { resultTypes: ['violations'], ${rules} }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ' ' + target + ' ' + failureSummary)))`,
  )
  return problems as string[]
}

/**
 * What ends to the right of the page, or has to be scrolled sideways. A line of chips may be, on a narrow screen. Charts and cells of
 * the list cut off what is too long, and the heads of a narrow table are not seen.
 */
export const TOO_WIDE = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement
  const found = scrollWidth > clientWidth ? ['the page, by ' + (scrollWidth - clientWidth)] : []
  for (const one of document.querySelectorAll('main, dialog, main *, dialog *')) {
    if (one.closest('svg, .unseen, thead, .chips ul, .entry > span > *') !== null) continue
    const { right, width } = one.getBoundingClientRect()
    const place = one.parentElement.closest('main, dialog') ?? document.body
    const over = Math.round(right - place.getBoundingClientRect().right)
    const isScrolled = ['auto', 'scroll'].includes(getComputedStyle(one).overflowX)
    const hidden = isScrolled ? one.scrollWidth - one.clientWidth : 0
    if (width > 1 && (over > 0 || hidden > 1))
      found.push(one.tagName + '.' + one.className + ', by ' + Math.max(over, hidden))
  }
  return found
})()`
