// The unit tests in one process, so that all of them take about a second.
for (const file of (process.env['AGW_TEST_UNIT'] ?? '').split('\n')) await import(file)
