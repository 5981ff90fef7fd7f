import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { tempFolder } from '../kit/temp-folder.ts'
import { isOutside, judgeShape } from '../witness/judge-shape.ts'
import { EXPRESS, startWitness } from '../witness/override-servers.ts'
import { overrideShapes } from '../witness/override-shapes.ts'
import { sendShape } from '../witness/send-shape.ts'

const express = await startWitness(EXPRESS, tempFolder('express'))
after(() => express.stop())

test('threat 28: whatever a real Express takes for a call outside of the scope is refused', async () => {
  const queue = overrideShapes().values()
  let outside = 0
  const work = async (): Promise<void> => {
    for (const shape of queue) {
      if (!isOutside(shape, await sendShape(express.port, shape))) continue
      outside++
      assert.notEqual(judgeShape(shape), 'allowed', JSON.stringify(shape))
    }
  }
  await Promise.all([work(), work(), work(), work()])
  assert.ok(outside > 100, `only ${outside} shapes were overrides to Express`)
})
