import type { Locator, Page } from 'playwright-core'

/** An operator at a page, who uses the pointer, or the keyboard alone. */
export interface PageHand {
  readonly page: Page
  /** Clicks, or presses of Enter or the space bar, since this was last asked. */
  readonly presses: () => number
  readonly press: (target: Locator) => Promise<void>
  readonly fill: (target: Locator, text: string) => Promise<void>
  readonly choose: (select: Locator, option: string) => Promise<void>
  /** One of a group of radio buttons. */
  readonly pick: (radio: Locator) => Promise<void>
  /** Pastes a text into the search of the menu and opens what is found under a title. */
  readonly find: (text: string, title: string) => Promise<void>
}

/** More than any page or dialog has. */
const TABS_MAX = 300
const isFocused = (target: Locator): Promise<boolean> =>
  target.evaluate((element) => element === element.ownerDocument.activeElement)

export const pageHand = (page: Page, by: 'mouse' | 'keyboard'): PageHand =>
  by === 'mouse' ? mouseOn(page) : keyboardOn(page)

const mouseOn = (page: Page): PageHand => {
  let count = 0
  const press = async (target: Locator): Promise<void> => {
    count++
    await target.click()
  }
  return {
    page,
    presses: () => takeCount(count, () => (count = 0)),
    press,
    fill: async (target, text) => {
      await target.click({ clickCount: 3 })
      await page.keyboard.insertText(text)
    },
    choose: async (select, option) => {
      await select.selectOption(option)
    },
    pick: press,
    find: async (text, title) => {
      await page.getByRole('combobox', { name: 'Search or go to' }).click()
      await page.keyboard.insertText(text)
      await press(page.getByRole('option').filter({ hasText: title }))
    },
  }
}

const keyboardOn = (page: Page): PageHand => {
  let count = 0
  const reach = async (target: Locator): Promise<void> => {
    await target.waitFor()
    for (let tabs = 0; tabs < TABS_MAX; tabs++) {
      if (await isFocused(target)) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`the Tab key does not reach ${String(target)}`)
  }
  return {
    page,
    presses: () => takeCount(count, () => (count = 0)),
    press: async (target) => {
      await reach(target)
      count++
      await page.keyboard.press('Enter')
    },
    fill: async (target, text) => {
      await reach(target)
      await page.keyboard.press('Control+a')
      await page.keyboard.insertText(text)
    },
    choose: async (select, option) => {
      await reach(select)
      await page.keyboard.type(option)
    },
    pick: async (radio) => {
      const group = radio.page().getByRole('radio')
      const name = await radio.getAttribute('name')
      await reach(group.and(page.locator(`[name="${name}"]:checked`)))
      for (let at = 0; !(await isFocused(radio)) && at < TABS_MAX; at++)
        await page.keyboard.press('ArrowDown')
      count++
    },
    find: async (text, title) => {
      await page.keyboard.press('Control+k')
      await page.keyboard.insertText(text)
      await page.getByRole('option').filter({ hasText: title }).waitFor()
      count++
      await page.keyboard.press('Enter')
    },
  }
}

function takeCount(count: number, reset: () => void): number {
  reset()
  return count
}
