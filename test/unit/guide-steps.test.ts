import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { guideSteps } from '../kit/guide-steps.ts'
import { printsAsShown } from '../kit/prints-as-shown.ts'

test('the commands of a guide are read in order, with their further lines and what they print', () => {
  const guide =
    'Text\n\n```console\n$ cat <<E\n> a\n> E\na\n$ true\n```\n\n```sh\nnot run\n```\n\n```console\n$ pwd\n/\n```\n'
  assert.deepEqual(guideSteps(guide), [
    { command: 'cat <<E\na\nE', shown: ['a'] },
    { command: 'true', shown: [] },
    { command: 'pwd', shown: ['/'] },
  ])
  assert.throws(() => guideSteps('```console\nno command\n```\n'))
})

describe('an output is as a guide shows it', () => {
  const rows: readonly [string, readonly string[], boolean][] = [
    ['', [], true],
    ['a\n', [], false],
    ['', ['a'], false],
    ['a\n', ['a'], true],
    ['a', ['a'], true],
    ['a\nb\n', ['a'], false],
    ['a\nb\nc\n', ['…', 'c'], true],
    ['a\nb\nc\n', ['a', '…'], true],
    ['c\n', ['…', 'c'], true],
    ['a 12 ms b\n', ['a … ms b'], true],
    ['a 12\n ms b\n', ['a … ms b'], false],
    ['a+b\n', ['a+b'], true],
    ['aab\n', ['a+b'], false],
    ['axb\n', ['a.b'], false],
  ]
  for (const [output, shown, isAsShown] of rows)
    test(`${JSON.stringify(output)} against ${JSON.stringify(shown)}`, () => {
      assert.equal(printsAsShown(output, shown), isAsShown)
    })
})
