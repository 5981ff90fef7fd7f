import { writeFileSync } from 'node:fs'
import { fromRoot } from '../../core/system/root.ts'
import { referencePages } from './pages.ts'

// `npm run docs`
for (const [name, text] of Object.entries(referencePages()))
  writeFileSync(fromRoot('docs', 'reference', name), text)
