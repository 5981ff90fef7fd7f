import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { checkAtStart } from '../../core/store/minimum-version.ts'

const redis = { ping: () => Promise.resolve('PONG') } as unknown as RedisClient

test('a store that begins to load its data behind the ping is asked again', async () => {
  const answers = [
    Object.assign(new Error('LOADING Redis is loading'), { name: 'ReplyError' }),
    null,
  ]
  let asked = 0
  await checkAtStart(redis, async () => {
    const error = answers[asked++]
    if (error) throw error
  })
  assert.equal(asked, 2)
})

test('what the check says ends the start', async () => {
  const says = async (): Promise<void> => {
    throw new Error('Install 9.9.9 or later.')
  }
  await assert.rejects(checkAtStart(redis, says), /Install 9\.9\.9/)
})
