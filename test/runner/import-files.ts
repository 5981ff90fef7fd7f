import { once } from 'node:events'
import { test } from 'node:test'

// Runs several test files in one process, so that what they share is loaded and started once. It asks the runner for one
// file after the other. A file is imported while this process is in a test of its own: after the tests of the file before
// it, whose mocked clocks it must not see, and before its own, which must not begin while it is evaluated.
for (;;) {
  const endImport = await beginImport()
  process.send?.('next')
  const [{ file }] = (await once(process, 'message')) as [{ readonly file: string | null }]
  if (file === null) {
    endImport(null)
    break
  }
  endImport(
    await import(file).then(
      () => null,
      (error: unknown) => error,
    ),
  )
}
process.disconnect()

/** Waits until no other test runs, and returns the function that lets them continue; with an error, the import has failed. */
function beginImport(): Promise<(error: unknown) => void> {
  return new Promise((began) => {
    void test('import', () =>
      new Promise<void>((end, fail) =>
        began((error) => (error === null ? end() : fail(error as Error))),
      ))
  })
}
