import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultSettings } from '../../core/scanner/default-settings.ts'
import { ATTACKS_BY_LANGUAGE } from '../kit/attacks-by-language.ts'
import { scanChat } from '../kit/scan-chat.ts'

const settings = defaultSettings('medium')
const isBlocked = (content: string): boolean => {
  const result = scanChat(content, settings)
  return result.kind === 'scanned' && result.decision.outcome === 'blocked'
}

for (const [language, block] of Object.entries(ATTACKS_BY_LANGUAGE)) {
  test(`of ten attacks in ${language} at least nine are found`, () => {
    const attacks = block.split('\n').filter((line) => line !== '')
    assert.equal(attacks.length, 10)
    const missed = attacks.filter((text) => !isBlocked(text))
    assert.ok(missed.length <= 1, missed.join('\n'))
  })
}
