import type { Page } from 'playwright-core'

/** Signs in to the console and waits for its first page. */
export async function signIn(on: Page, token: string): Promise<void> {
  await on.getByLabel('Admin token').fill(token)
  await on.getByRole('button', { name: 'Sign in' }).click()
  await on.getByRole('heading', { name: 'Overview' }).waitFor()
}
