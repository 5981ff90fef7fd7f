import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { wordsOfAction } from '../../core/activity/words-of-action.ts'

describe('an admin action in words', () => {
  for (const [action, words] of [
    ['scope.update', 'changed the scope'],
    ['webhook.rotate_secret', 'replaced the secret of the webhook'],
    ['agent.kill', 'killed the agent'],
    ['sign_in.dashboard', 'signed in to the console with'],
    ['scope.of_a_newer_version', 'scope.of_a_newer_version'],
    ['constructor.create', 'constructor.create'],
  ] as const)
    test(`${action} is “${words}”`, () => assert.equal(wordsOfAction(action), words))
})
