import { test } from 'node:test'

// Runs several test files in one process, so that what they share starts once. Tests would begin while further files are
// imported, which would then see the clock that a test has mocked; so the first test is that all are.
let isImported = (): void => undefined
const imported = new Promise<void>((resolve) => {
  isImported = resolve
})
test('every file is imported', () => imported)
for (const file of JSON.parse(process.env['AGW_TEST_FILES'] ?? '[]') as string[]) await import(file)
isImported()
