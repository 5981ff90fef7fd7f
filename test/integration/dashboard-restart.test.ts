import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mintKey } from '../../core/keys/api-key.ts'
import { recordEntries } from '../../core/change/record-entries.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { adminInProcess } from '../kit/admin-in-process.ts'
import { freePort } from '../kit/free-port.ts'
import { openBrowser } from '../kit/open-browser.ts'
import { startValkey } from '../kit/start-valkey.ts'

test('over a restart of the service the live view misses nothing, and over a dead store nothing is shown as live', async () => {
  const [valkey, port, browser] = await Promise.all([startValkey(), freePort(), openBrowser()])
  const token = mintKey('admin')
  const AGW_ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')
  const start = () =>
    adminInProcess(valkey.url, {
      AGW_ADMIN_TOKEN: token,
      AGW_ENCRYPTION_KEY,
      AGW_API_PORT: String(port),
    })
  const redis = connectRedis(valkey.url, { name: 'test', role: 'queue' })
  const record = async (endpoint: string): Promise<void> => {
    const entry = activityEntry('permission_denied', { endpoint })
    await recordEntries(redis, entry.organization_id, [entry])
  }
  let admin = await start()
  try {
    const page = await browser.open(
      `http://127.0.0.1:${port}/#/activity?live=1&event=permission_denied`,
    )
    await page.getByLabel('Admin token').fill(token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Live:').waitFor()
    await record('/before')
    await page.getByRole('row').filter({ hasText: '/before' }).waitFor()
    await admin.stop()
    await page.getByText('Connecting …').waitFor()
    await record('/meanwhile')
    admin = await start()
    await page.getByRole('row').filter({ hasText: '/meanwhile' }).waitFor()
    assert.equal(await page.getByRole('row').count(), 3)
    await page.getByText('Live:').waitFor()
    await valkey.stop()
    await page.getByText('Connecting …').waitFor()
    await page.getByRole('alert').filter({ hasText: 'The store is unavailable' }).waitFor()
    assert.equal(
      await page.evaluate("getComputedStyle(document.querySelector('main')).filter"),
      'grayscale(1)',
    )
    await page.getByRole('alert').getByText('The store is unavailable').waitFor()
  } finally {
    await browser.closePages()
    await admin.stop()
    redis.disconnect()
    await valkey.stop()
  }
})
