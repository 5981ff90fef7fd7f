import { test } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'
import { checkFit } from '../mutation/check-fit.ts'
import { EDITS } from '../mutation/edits.ts'
import { THREAT_EDITS } from '../mutation/threat-edits.ts'
import { editsOf, MUTATIONS } from '../simulation/mutations.ts'

test('the wrong edits of all mutation runs fit the source', () => {
  checkFit(fromRoot(), EDITS, 'test/mutation/edits.ts')
  checkFit(fromRoot(), THREAT_EDITS, 'test/mutation/threat-edits.ts')
  checkFit(fromRoot(), MUTATIONS.flatMap(editsOf), 'test/simulation/mutations.ts')
})
